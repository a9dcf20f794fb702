;;
SELECT 1;;
;