SELECT count(*) FROM orders;

SELECT sum(total)
FROM orders;
