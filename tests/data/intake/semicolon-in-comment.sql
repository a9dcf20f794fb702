-- first; not a statement
SELECT 1 /* a; b */ + 1; -- done; really
SELECT 2
