-- nothing here yet
/* or here */
