SELECT * INTO backup FROM orders;
SELECT 1;
