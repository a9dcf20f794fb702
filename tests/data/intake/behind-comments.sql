/* outer /* inner */ still */
-- and a line
  ( SELECT 1 );
