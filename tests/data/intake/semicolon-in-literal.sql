SELECT ';' AS a, 'x;y' AS b;
SELECT 2;
