SELECT `a` FROM `t` LIMIT 5;
SELECT 'it\'s; fine';
