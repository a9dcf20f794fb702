WITH gone AS (DELETE FROM orders RETURNING *) SELECT count(*) FROM gone;
