SELECT 'a\'; DROP TABLE t; --';
