-- A report of a PostgreSQL server, 9.4 to 18, every :every seconds in one session. What differs between versions is put in as text.
set application_name = 'normstat';
set statement_timeout = '5s';
set lock_timeout = '1s';
-- What the statements and tables had in the report before: the server has thousands, and only those with most growth are shown.
set normstat.statements = '{}';
set normstat.tables = '{}';
select
    case when v >= 140000 then 'true as is_known'
        else 'null::float8 as session_time, null::float8 as active_time, null::float8 as idle_in_transaction_time, null::bigint as sessions'
    end as by_database,
    case when v >= 100000 then 'backend_type = ''client backend''' else 'true' end as is_client,
    case when v >= 90600 then 'wait_event_type' else 'case when waiting then ''Lock'' end' end as wait_type,
    case when v >= 90600 then 'wait_event' else 'case when waiting then ''lock'' end' end as wait_event,
    case when v >= 90600 then 'pg_blocking_pids(pid)' else '''{}''::int[]' end as blocked_by,
    case when v >= 170000 then 'select key, value from pg_stat_checkpointer c, json_each_text(row_to_json(c)) union all '
        else '' end
    || case when v >= 140000 then 'select key, value from pg_stat_wal w, json_each_text(row_to_json(w)) union all '
        when v >= 100000 then 'select ''wal_bytes'' as key, case when not pg_is_in_recovery() then (pg_current_wal_lsn() - ''0/0'')::text end as value
            union all '
        else 'select ''wal_bytes'' as key, case when not pg_is_in_recovery() then (pg_current_xlog_location() - ''0/0'')::text end as value
            union all '
    end as by_server,
    case when v >= 180000 then 'true as is_known'
        else 'reads * op_bytes as read_bytes, (writes + coalesce(extends, 0)) * op_bytes as write_bytes' end as io_bytes,
    case when v >= 160000 then 'pg_stat_io' else '(select 0::bigint as reads, 0::bigint as writes, 0::bigint as extends, 0::bigint as
        op_bytes, 0::bigint as fsyncs, 0::bigint as evictions, 0::bigint as hits, 0::float8 as read_time, 0::float8 as write_time,
        0::float8 as fsync_time, null::text as backend_type, null::text as object, null::text as context where false)'
    end as by_io,
    case when v >= 130000 then 'total_exec_time' else 'total_time' end as exec_time,
    case when v >= 170000 then 'shared_blk_read_time + shared_blk_write_time + temp_blk_read_time + temp_blk_write_time'
        else 'blk_read_time + blk_write_time' end as io_time,
    case when v >= 130000 then 'wal_bytes' else '0' end as wal_bytes
from (select current_setting('server_version_num')::int as v) as server \gset
-- The schema of pg_stat_statements in this database; without it a query that finds nothing.
select case when count(*) = 0
    then '(select 0::bigint as queryid, ''''::text as query, 0 as calls, 0 as ' || :'exec_time' || ', 0 as rows, 0 as shared_blks_hit,
        0 as shared_blks_read, 0 as temp_blks_written, 0 as blk_read_time, 0 as blk_write_time, 0 as shared_blk_read_time,
        0 as shared_blk_write_time, 0 as temp_blk_read_time, 0 as temp_blk_write_time, 0 as wal_bytes where false) as s where true or '
    else max(quote_ident(nspname)) || '.pg_stat_statements(' end as statements,
    case when count(*) = 0 then ' and ' else ') as s where ' end as of_statements
from pg_extension e join pg_namespace n on n.oid = e.extnamespace
where extname = 'pg_stat_statements'
    and current_setting('shared_preload_libraries') like '%pg_stat_statements%' \gset

with recursive activity as (
    select pid, query, coalesce(state, 'unknown') as state, :wait_type as wait_type, :wait_event as wait_event,
        greatest(extract(epoch from clock_timestamp() - xact_start), 0) as transaction_s,
        greatest(extract(epoch from clock_timestamp() - query_start), 0) as query_s
    from pg_stat_activity
    where pid <> pg_backend_pid() and :is_client
), blocked as (
    select pid, query, query_s, unnest(:blocked_by) as by_pid from activity where wait_type = 'Lock'
), chain as (
    select by_pid as root, pid from blocked where by_pid not in (select pid from blocked)
    union
    select chain.root, blocked.pid from chain join blocked on blocked.by_pid = chain.pid
), blockers as (
    select chain.root, count(*) as blocked, max(blocked.query_s) as wait_s
    from chain join (select pid, max(query_s) as query_s from blocked group by pid) as blocked using (pid) group by chain.root
), texts as (
    -- Without literals and comments: they may be secrets, and the same statement has one name.
    select pid, left(btrim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(query,
        '/\*.*?(\*/|$)', ' ', 'g'), '(''[^'']*(''|$))+', '?', 'g'), '\m[0-9]+(\.[0-9]+)?\M', '?', 'g'), '\s+', ' ', 'g'), ' ;'), 80) as text
    from activity where pid in (select pid from blocked union select root from blockers)
), statements as (
    select queryid, sum(calls) as calls, sum(:exec_time) as total_exec_time, sum(rows) as rows, sum(shared_blks_hit) as shared_blks_hit,
        sum(shared_blks_read) as shared_blks_read, sum(temp_blks_written) as temp_blks_written, sum(:io_time) as io_time,
        sum(:wal_bytes) as wal_bytes
    from :statements false :of_statements queryid is not null group by queryid
), known_statements as (
    select key::bigint as queryid, (value->>0)::numeric as calls, (value->>1)::float8 as total_exec_time, (value->>2)::numeric as rows,
        (value->>3)::numeric as shared_blks_hit, (value->>4)::numeric as shared_blks_read, (value->>5)::numeric as temp_blks_written,
        (value->>6)::float8 as io_time, (value->>7)::numeric as wal_bytes
    from json_each(current_setting('normstat.statements')::json)
), grown_statements as (
    -- One that is not known began since the report before; before the first report none is known.
    select n.queryid, n.calls - coalesce(k.calls, 0) as calls, n.total_exec_time - coalesce(k.total_exec_time, 0) as total_exec_time,
        n.rows - coalesce(k.rows, 0) as rows, n.shared_blks_hit - coalesce(k.shared_blks_hit, 0) as shared_blks_hit,
        n.shared_blks_read - coalesce(k.shared_blks_read, 0) as shared_blks_read,
        n.temp_blks_written - coalesce(k.temp_blks_written, 0) as temp_blks_written, n.io_time - coalesce(k.io_time, 0) as io_time,
        n.wal_bytes - coalesce(k.wal_bytes, 0) as wal_bytes
    from statements n left join known_statements k using (queryid)
    where n.calls > coalesce(k.calls, 0) and exists (select 1 from known_statements)
    order by 3 desc limit 20
), tables as (
    select relid, schemaname || '.' || relname as name, seq_scan, seq_tup_read, coalesce(idx_scan, 0) as idx_scan,
        coalesce(idx_tup_fetch, 0) as idx_tup_fetch, n_tup_ins, n_tup_upd, n_tup_del, n_live_tup, n_dead_tup
    from pg_stat_user_tables
), known_tables as (
    select key::oid as relid, (value->>0)::bigint as seq_scan, (value->>1)::bigint as seq_tup_read, (value->>2)::bigint as idx_scan,
        (value->>3)::bigint as idx_tup_fetch, (value->>4)::bigint as n_tup_ins, (value->>5)::bigint as n_tup_upd,
        (value->>6)::bigint as n_tup_del
    from json_each(current_setting('normstat.tables')::json)
), grown_tables as (
    select n.name, n.seq_scan - k.seq_scan as seq_scan, n.seq_tup_read - k.seq_tup_read as seq_tup_read,
        n.idx_scan - k.idx_scan as idx_scan, n.idx_tup_fetch - k.idx_tup_fetch as idx_tup_fetch, n.n_tup_ins - k.n_tup_ins as n_tup_ins,
        n.n_tup_upd - k.n_tup_upd as n_tup_upd, n.n_tup_del - k.n_tup_del as n_tup_del, n_live_tup, n_dead_tup
    from tables n join known_tables k using (relid)
    where n.seq_tup_read >= k.seq_tup_read and n.idx_tup_fetch >= k.idx_tup_fetch
    order by n.seq_tup_read - k.seq_tup_read + n.idx_tup_fetch - k.idx_tup_fetch
        + n.n_tup_ins - k.n_tup_ins + n.n_tup_upd - k.n_tup_upd + n.n_tup_del - k.n_tup_del desc limit 20
)
select concat_ws(e'\n',
    extract(epoch from clock_timestamp())::numeric(16, 3),
    '==> server <==',
    (select string_agg(key || e'\t' || value, e'\n') from (
        :by_server select key, value from pg_stat_bgwriter b, json_each_text(row_to_json(b))
        union all select 'max_connections', current_setting('max_connections')
        union all select 'xid_age', max(age(datfrozenxid))::text from pg_database
    ) as pairs where value ~ '^[0-9.]+$'),
    (select format(e'connections\t%s\nactive\t%s\nrunning\t%s\nlock_waits\t%s\nidle_in_transaction\t%s\noldest_transaction_s\t%s\nlongest_lock_wait_s\t%s',
        count(*), count(*) filter (where state = 'active'), count(*) filter (where state = 'active' and wait_type is null),
        count(*) filter (where wait_type = 'Lock'), count(*) filter (where state like 'idle in transaction%'),
        round(coalesce(max(transaction_s), 0)::numeric, 3), round(coalesce(max(query_s) filter (where wait_type = 'Lock'), 0)::numeric, 3))
        from activity),
    (select e'==> database <==\ndatname\tnumbackends\txact_commit\txact_rollback\tblks_read\tblks_hit\ttup_returned\ttup_fetched\ttup_inserted\ttup_updated\ttup_deleted\tconflicts\ttemp_files\ttemp_bytes\tdeadlocks\tblk_read_time\tblk_write_time\tsession_time\tactive_time\tidle_in_transaction_time\tsessions'
        || string_agg(format(e'\n%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s',
            datname, numbackends, xact_commit, xact_rollback, blks_read, blks_hit, tup_returned, tup_fetched, tup_inserted,
            tup_updated, tup_deleted, conflicts, temp_files, temp_bytes, deadlocks, blk_read_time, blk_write_time, session_time,
            active_time, idle_in_transaction_time, sessions), '' order by datname)
        from (select *, :by_database from pg_stat_database where datname not like 'template_') as d),
    (select e'==> state <==\nstate\tsessions\ttransaction_s' || string_agg(format(e'\n%s\t%s\t%s', state, n, oldest), '' order by state)
        from (select state, count(*) as n, round(coalesce(max(transaction_s), 0)::numeric, 3) as oldest from activity group by state) as s),
    (select e'==> wait <==\nwait\tsessions' || string_agg(format(e'\n%s\t%s', wait, n), '' order by wait)
        from (select coalesce(wait_type || ':' || wait_event, 'running') as wait, count(*) as n from activity where state = 'active'
            group by 1) as w),
    -- With a first row that blocks no session: a report without blocking sessions is a report, too.
    (select e'==> blocker <==\npid\ttext\tblocked\twait_s\ttransaction_s\tidle\n0\tnone\t0\t0\t0\t0' || coalesce(string_agg(format(e'\n%s\t%s\t%s\t%s\t%s\t%s',
            b.root, coalesce(nullif(t.text, ''), 'unknown statement'), b.blocked, round(b.wait_s::numeric, 3),
            round(a.transaction_s::numeric, 3), case when a.state like 'idle%' then 1 else 0 end), ''), '')
        from (select * from blockers order by blocked desc, root limit 10) as b left join activity a on a.pid = b.root
            left join texts t on t.pid = b.root),
    (select e'==> blocked <==\ntext\tsessions\twait_s' || string_agg(format(e'\n%s\t%s\t%s', text, n, round(wait_s::numeric, 3)), '')
        from (select t.text, count(distinct b.pid) as n, max(b.query_s) as wait_s from blocked b join texts t using (pid)
            group by 1 order by 2 desc limit 10) as b),
    (select e'==> io <==\nbackend\tobject\tcontext\treads\tread_time\twrites\twrite_time\textends\tfsyncs\tfsync_time\thits\tevictions\tread_bytes\twrite_bytes'
        || string_agg(format(e'\n%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s', backend_type, object, context, reads, read_time,
            writes, write_time, extends, fsyncs, fsync_time, hits, evictions, read_bytes, write_bytes), '')
        from (select *, :io_bytes from :by_io as io where greatest(reads, writes, extends, fsyncs, hits) > 0) as io),
    (select e'==> statement <==\nstatement\tcalls\ttotal_exec_time\trows\tshared_blks_hit\tshared_blks_read\ttemp_blks_written\tio_time\twal_bytes'
        || string_agg(format(e'\n0x%s %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s', left(lpad(to_hex(g.queryid), 16, '0'), 8),
            left(btrim(regexp_replace(regexp_replace(case when s.query ~* 'password' then 'statement with a password' else s.query end,
                '/\*.*?(\*/|$)', ' ', 'g'), '\s+', ' ', 'g')), 80),
            g.calls, round(g.total_exec_time::numeric, 3), g.rows, g.shared_blks_hit, g.shared_blks_read, g.temp_blks_written,
            round(g.io_time::numeric, 3), g.wal_bytes), '')
        from grown_statements g join (select queryid, min(query) as query from :statements true :of_statements
            queryid in (select queryid from grown_statements) group by queryid) as s using (queryid)),
    (select e'==> table <==\ntable\tseq_scan\tseq_tup_read\tidx_scan\tidx_tup_fetch\tn_tup_ins\tn_tup_upd\tn_tup_del\tn_live_tup\tn_dead_tup'
        || string_agg(format(e'\n%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s', name, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch,
            n_tup_ins, n_tup_upd, n_tup_del, n_live_tup, n_dead_tup), '')
        from grown_tables),
    -- Kept after they were compared: the condition comes first.
    case when (select count(*) from grown_statements) >= 0 then nullif(left(set_config('normstat.statements', coalesce((select
        json_object_agg(queryid, json_build_array(calls, total_exec_time, rows, shared_blks_hit, shared_blks_read, temp_blks_written,
        io_time, wal_bytes)) from statements)::text, '{}'), false), 0), '') end,
    case when (select count(*) from grown_tables) >= 0 then nullif(left(set_config('normstat.tables', coalesce((select
        json_object_agg(relid, json_build_array(seq_scan, seq_tup_read, idx_scan, idx_tup_fetch, n_tup_ins, n_tup_upd, n_tup_del))
        from tables)::text, '{}'), false), 0), '') end
)
\watch :every
