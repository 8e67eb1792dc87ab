-- Three tables that differ in their keys: a number, two texts, none.
CREATE TABLE items (id int PRIMARY KEY, name text, made timestamptz NOT NULL);
CREATE TABLE prices (region text, code text, cents bigint, PRIMARY KEY (region, code));
CREATE TABLE remarks (line text, n int);
ALTER TABLE remarks REPLICA IDENTITY FULL;
INSERT INTO items SELECT i, 'item ' || i, '2026-03-01 12:00:00+00' FROM generate_series(1, 20) i;
INSERT INTO prices SELECT 'région ' || i % 3, 'c' || i, i * 100 FROM generate_series(1, 20) i;
INSERT INTO remarks SELECT 'line ' || i % 5, i FROM generate_series(1, 20) i;
