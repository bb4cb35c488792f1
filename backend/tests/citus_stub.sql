-- What normstat uses of Citus, in a plain PostgreSQL: it distributes nothing, and refuses what Citus 13.2 refuses.
-- tests/db/test_cluster.py holds it against a real Citus where NORMSTAT_CITUS_DSN names one. Run it as a superuser.

CREATE TABLE pg_dist_node (
    nodename text NOT NULL, nodeport int NOT NULL, groupid int NOT NULL, noderole text NOT NULL DEFAULT 'primary',
    isactive bool NOT NULL DEFAULT true, PRIMARY KEY (nodename, nodeport)
);
-- `partkey` is NULL for tables that are everywhere.
CREATE TABLE citus_stub_tables (relid regclass PRIMARY KEY, partkey text, colocated_type regtype);
CREATE TABLE pg_dist_placement (shardid int8, groupid int);
CREATE TABLE pg_dist_shard (shardid int8, logicalrelid regclass);

CREATE VIEW citus_tables AS
    SELECT relid AS table_name, CASE WHEN partkey IS NULL THEN 'reference' ELSE 'distributed' END AS citus_table_type
    FROM citus_stub_tables;
CREATE VIEW citus_shards AS
    SELECT n.nodename, n.nodeport, pg_total_relation_size(t.table_name) AS shard_size, t.citus_table_type
    FROM citus_tables AS t CROSS JOIN pg_dist_node AS n WHERE n.groupid <> 0;

CREATE FUNCTION citus_version() RETURNS text LANGUAGE sql AS $$ SELECT 'Citus 13.2.2 on a stub' $$;
CREATE FUNCTION citus_set_coordinator_host(host text, port int) RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
    DELETE FROM pg_dist_node WHERE groupid = 0;
    INSERT INTO pg_dist_node VALUES (host, port, 0);
$$;

-- A worker whose name begins with "away" cannot be reached.
CREATE FUNCTION citus_check_connection_to_node(host text, port int) RETURNS bool LANGUAGE sql AS $$ SELECT host NOT LIKE 'away%' $$;

CREATE FUNCTION citus_add_node(host text, port int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF host LIKE 'away%' THEN
        RAISE EXCEPTION 'connection to the remote node postgres@%:% failed with the following error: Connection refused', host, port
            USING ERRCODE = 'connection_failure';
    END IF;
    INSERT INTO pg_dist_node SELECT host, port, coalesce(max(groupid), 0) + 1 FROM pg_dist_node ON CONFLICT DO NOTHING;
    RETURN 1;
END $$;

CREATE FUNCTION citus_remove_node(host text, port int) RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
    DELETE FROM pg_dist_node WHERE nodename = host AND nodeport = port
$$;

CREATE FUNCTION citus_drain_node(host text, port int, shard_transfer_mode text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF shard_transfer_mode <> 'block_writes' THEN
        RAISE EXCEPTION 'cannot use logical replication to transfer shards of a relation without a REPLICA IDENTITY or PRIMARY KEY';
    END IF;
END $$;

CREATE FUNCTION get_rebalance_table_shards_plan(
    OUT shardid int8, OUT sourcename text, OUT sourceport int, OUT targetname text, OUT targetport int
) RETURNS SETOF record LANGUAGE sql AS $$ SELECT 1, 'a', 1, 'b', 1 WHERE false $$;

-- The only worker is this database.
CREATE FUNCTION run_command_on_workers(command text, OUT nodename text, OUT nodeport int, OUT success bool, OUT result text)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
    FOR nodename, nodeport IN SELECT n.nodename, n.nodeport FROM pg_dist_node AS n WHERE n.groupid <> 0 ORDER BY 2 LOOP
        success := true;
        IF command ~* '^\s*select' THEN
            EXECUTE command INTO result;
        ELSE
            EXECUTE command;
            result := 'SET';
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

CREATE FUNCTION citus_stub_check(wanted regclass) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    key text := (SELECT partkey FROM citus_stub_tables WHERE relid = wanted);
    found record;
BEGIN
    IF key IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = wanted AND attname = key AND NOT attisdropped) THEN
        RAISE EXCEPTION 'column "%" of relation "%" does not exist', key, wanted USING ERRCODE = 'undefined_column';
    END IF;
    -- From distributed tables only to those colocated with them, by the distribution column, and to reference tables; none from others.
    FOR found IN
        SELECT c.conrelid::regclass AS referring, c.confrelid::regclass AS referenced, r.relid AS of_referring,
            r.partkey AS referring_key, d.relid AS of_referenced, d.partkey AS referenced_key
        FROM pg_constraint AS c
        LEFT JOIN citus_stub_tables AS r ON r.relid = c.conrelid
        LEFT JOIN citus_stub_tables AS d ON d.relid = c.confrelid
        WHERE c.contype = 'f' AND wanted IN (c.conrelid, c.confrelid)
    LOOP
        IF found.of_referring IS NOT NULL AND found.of_referenced IS NULL THEN
            RAISE EXCEPTION 'referenced table "%" must be a distributed table or a reference table', found.referenced
                USING ERRCODE = 'invalid_table_definition';
        ELSIF found.of_referenced IS NOT NULL AND (found.of_referring IS NULL OR found.referring_key IS NULL)
            AND found.referenced_key IS NOT NULL THEN
            RAISE EXCEPTION 'cannot create foreign key constraint since foreign keys from reference tables and local tables to '
                'distributed tables are not supported' USING ERRCODE = 'feature_not_supported';
        ELSIF found.of_referenced IS NOT NULL AND found.of_referring IS NULL THEN
            -- Citus would take in all tables that foreign keys lead to: streams, hosts, accounts.
            RAISE EXCEPTION 'the table "%" would become a table of Citus, because of its foreign key', found.referring
                USING ERRCODE = 'feature_not_supported';
        END IF;
    END LOOP;
    FOR found IN
        SELECT i.indexrelid::regclass AS name FROM pg_index AS i
        WHERE i.indrelid = wanted AND key IS NOT NULL AND (i.indisunique OR i.indisexclusion) AND NOT EXISTS (
            SELECT FROM pg_attribute AS a WHERE a.attrelid = wanted AND a.attname = key AND a.attnum = ANY (i.indkey))
    LOOP
        RAISE EXCEPTION 'cannot create constraint on "%"', wanted USING ERRCODE = 'feature_not_supported',
            DETAIL = 'Distributed relations cannot have UNIQUE, EXCLUDE, or PRIMARY KEY constraints that do not include the partition '
                'column (with an equality operator if EXCLUDE).';
    END LOOP;
    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = wanted AND attidentity <> '' AND atttypid <> 'int8'::regtype) THEN
        RAISE EXCEPTION 'cannot complete operation on % with smallint/int identity column', wanted USING ERRCODE = 'feature_not_supported';
    END IF;
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = wanted AND NOT tgisinternal AND tgname <> 'citus_stub_key') AND key IS NOT NULL THEN
        RAISE EXCEPTION 'triggers are not supported on distributed tables' USING ERRCODE = 'feature_not_supported';
    END IF;
END $$;

CREATE FUNCTION citus_stub_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'modifying the partition value of rows is not allowed' USING ERRCODE = 'feature_not_supported';
END $$;

CREATE FUNCTION citus_stub_add(wanted regclass, key text, of_type regtype) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_dist_node WHERE groupid <> 0) THEN
        RAISE EXCEPTION 'replication_factor (1) exceeds number of worker nodes (0)' USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF EXISTS (SELECT FROM citus_stub_tables WHERE relid = wanted) THEN
        RAISE EXCEPTION 'table "%" is already distributed', wanted USING ERRCODE = 'invalid_table_definition';
    END IF;
    INSERT INTO citus_stub_tables VALUES (wanted, key, of_type);
    PERFORM citus_stub_check(wanted);
END $$;

CREATE FUNCTION create_reference_table(wanted regclass) RETURNS void LANGUAGE sql AS $$ SELECT citus_stub_add(wanted, NULL, NULL) $$;

CREATE FUNCTION create_distributed_table(wanted regclass, key text, colocate_with text DEFAULT 'default')
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    of_type regtype := (SELECT atttypid FROM pg_attribute WHERE attrelid = wanted AND attname = key AND NOT attisdropped);
    found record;
BEGIN
    IF of_type IS NULL THEN
        RAISE EXCEPTION 'column "%" of relation "%" does not exist', key, wanted USING ERRCODE = 'undefined_column';
    END IF;
    IF colocate_with NOT IN ('default', 'none') THEN
        SELECT * INTO found FROM citus_stub_tables WHERE relid = colocate_with::regclass;
        IF found.partkey IS NULL THEN
            RAISE EXCEPTION 'relation % is not distributed', colocate_with USING ERRCODE = 'wrong_object_type';
        ELSIF found.colocated_type <> of_type THEN
            RAISE EXCEPTION 'cannot colocate tables % and %', colocate_with, wanted USING ERRCODE = 'invalid_table_definition',
                DETAIL = 'Distribution column types don''t match';
        END IF;
    END IF;
    PERFORM citus_stub_add(wanted, key, of_type);
    EXECUTE format('CREATE TRIGGER citus_stub_key BEFORE UPDATE OF %I ON %s EXECUTE FUNCTION citus_stub_refuse()', key, wanted);
END $$;

CREATE FUNCTION citus_stub_look() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    DELETE FROM citus_stub_tables WHERE relid::oid NOT IN (SELECT oid FROM pg_class);
    PERFORM citus_stub_check(relid) FROM citus_stub_tables;
END $$;
CREATE EVENT TRIGGER citus_stub_look ON ddl_command_end EXECUTE FUNCTION citus_stub_look();

GRANT SELECT ON pg_dist_node, pg_dist_placement, pg_dist_shard, citus_stub_tables, citus_tables, citus_shards TO PUBLIC;
