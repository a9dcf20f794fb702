EXPLAIN SELECT 1;
SHOW TABLES;
BEGIN;
SET search_path = x;
VALUES (1);
TABLE orders;
CALL refresh();
SELECT 1;
