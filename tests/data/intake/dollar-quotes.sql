SELECT $$a; DROP TABLE t;$$ AS x;
SELECT $tag$ $$ ; $tag$;
