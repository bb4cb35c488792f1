-- A report of a MySQL server, 5.7 to 9, or a MariaDB server, 10.5 and later. What differs between them is put in as text.
set @is_old = @@version like '%MariaDB%' or substring_index(@@version, '.', 1) + 0 < 8;
set @is_first = @@version not like '%MariaDB%' and substring_index(@@version, '.', 1) + 0 < 8;
select unix_timestamp(now(6));
select '==> status <==';
show global status where variable_name in (
    'Aborted_clients', 'Aborted_connects', 'Bytes_received', 'Bytes_sent', 'Com_commit', 'Com_delete', 'Com_insert', 'Com_rollback',
    'Com_select', 'Com_update', 'Connections', 'Created_tmp_disk_tables', 'Created_tmp_tables', 'Handler_read_key',
    'Handler_read_next', 'Handler_read_rnd', 'Handler_read_rnd_next', 'Innodb_buffer_pool_pages_dirty', 'Innodb_buffer_pool_pages_free',
    'Innodb_buffer_pool_pages_total', 'Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_reads', 'Innodb_buffer_pool_wait_free',
    'Innodb_checkpoint_age', 'Innodb_data_fsyncs', 'Innodb_data_read', 'Innodb_data_written', 'Innodb_log_waits', 'Innodb_os_log_written',
    'Innodb_row_lock_current_waits', 'Innodb_row_lock_time', 'Innodb_row_lock_waits', 'Innodb_rows_read', 'Questions',
    'Select_full_join', 'Select_scan', 'Slow_queries', 'Sort_merge_passes', 'Table_locks_waited', 'Threads_connected', 'Threads_created',
    'Threads_running');
select 'max_connections', @@max_connections;
select name, count from information_schema.innodb_metrics
where name in ('trx_rseg_history_len', 'lock_deadlocks', 'lock_timeouts', 'log_lsn_checkpoint_age', 'buffer_flush_sync_total_pages');
select 'oldest_transaction_s', coalesce(max(timestampdiff(second, trx_started, now())), 0) from information_schema.innodb_trx;
select '==> state <==';
select 'state', 'sessions', 'time_s';
select left(replace(coalesce(nullif(state, ''), command), '\t', ' '), 80) as what, count(*), max(time)
from information_schema.processlist
where command not in ('Sleep', 'Daemon', 'Binlog Dump', 'Binlog Dump GTID', 'Slave_IO', 'Slave_SQL', 'Slave_worker', 'Connect')
    and id <> connection_id()
group by what;
select '==> blocker <==';
select 'pid', 'text', 'blocked', 'wait_s', 'transaction_s', 'idle';
-- A report without blocking sessions is a report, too.
select 0, 'none', 0, 0, 0, 0;
-- Without literals and comments: they may be secrets, and the same statement has one name.
set @text = if(@is_first, 'substring_index(trim(q), '' '', 3)',
    'left(trim(regexp_replace(regexp_replace(regexp_replace(q, ''/[*].*?([*]/|$)|(''''[^'''']*(''''|$))+|("[^"]*("|$))+'', ''?''),
        ''\\\\b[0-9]+([.][0-9]+)?\\\\b'', ''?''), ''\\\\s+'', '' '')), 80)');
-- The last statement of a session that executes none is known where performance_schema is on.
set @waits = if(@is_old,
    'select w.requesting_trx_id as waiting, w.blocking_trx_id as blocking from information_schema.innodb_lock_waits w',
    'select w.requesting_engine_transaction_id as waiting, w.blocking_engine_transaction_id as blocking
        from performance_schema.data_lock_waits w');
set @blockers = concat('
    select id, coalesce(nullif(', @text, ', ''''), ''unknown statement''), n, wait_s, transaction_s, is_idle from (
        select b.trx_mysql_thread_id as id, count(distinct x.waiting) as n, max(timestampdiff(second, r.trx_wait_started, now())) as wait_s,
            max(timestampdiff(second, b.trx_started, now())) as transaction_s, max(b.trx_query is null) as is_idle,
            max(coalesce(b.trx_query, (select s.sql_text from performance_schema.events_statements_current s
                join performance_schema.threads t using (thread_id) where t.processlist_id = b.trx_mysql_thread_id limit 1))) as q
        from (', @waits, ') as x join information_schema.innodb_trx b on b.trx_id = x.blocking
            join information_schema.innodb_trx r on r.trx_id = x.waiting
        where b.trx_state <> ''LOCK WAIT'' group by b.trx_mysql_thread_id order by n desc limit 10) as found');
prepare blockers from @blockers;
execute blockers;
select '==> blocked <==';
select 'text', 'sessions', 'wait_s';
set @blocked = concat('
    select coalesce(nullif(', @text, ', ''''), ''unknown statement'') as what, count(*), max(wait_s) from (
        select trx_query as q, timestampdiff(second, trx_wait_started, now()) as wait_s from information_schema.innodb_trx
        where trx_state = ''LOCK WAIT'') as found group by what order by 2 desc limit 10');
prepare blocked from @blocked;
execute blocked;
-- Empty where performance_schema is off. Our own session has no schema: its statements are not shown, nor those of others like it.
select '==> statement <==';
select 'statement', 'count_star', 'timer_ms', 'lock_ms', 'rows_examined', 'rows_sent', 'rows_affected', 'no_index_used',
    'tmp_disk_tables';
select concat('0x', left(digest, 8), ' ', left(digest_text, 80)) as statement, sum(count_star), round(sum(sum_timer_wait) / 1e9, 3),
    round(sum(sum_lock_time) / 1e9, 3), sum(sum_rows_examined), sum(sum_rows_sent), sum(sum_rows_affected), sum(sum_no_index_used),
    sum(sum_created_tmp_disk_tables)
from performance_schema.events_statements_summary_by_digest
where last_seen >= now() - interval 1 minute and digest is not null and schema_name is not null
group by statement order by sum(sum_timer_wait) desc limit 40;
