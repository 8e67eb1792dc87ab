-- Run as the owner of the tables or a superuser, in the database that is captured. The server needs wal_level = logical.
CREATE ROLE flow_capture LOGIN REPLICATION PASSWORD 'secret';
GRANT USAGE ON SCHEMA public TO flow_capture;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO flow_capture;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO flow_capture;
-- The capture may not create publications of tables that it does not own, so make it here.
CREATE PUBLICATION flow_publication FOR TABLE public.orders, public.items WITH (publish_via_partition_root = true);
