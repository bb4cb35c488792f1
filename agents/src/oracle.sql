whenever sqlerror exit failure
set heading off feedback off pagesize 0 linesize 400 trimspool on trimout on tab off termout on
select trim(to_char((cast(sys_extract_utc(systimestamp) as date) - date '1970-01-01') * 86400
    + mod(extract(second from systimestamp), 1), '9999999990.000')) from dual;
select '==> sysstat <==' from dual;
select name || chr(9) || value from v$sysstat where name in ('user commits', 'user rollbacks', 'user calls', 'execute count',
    'parse count (total)', 'parse count (hard)', 'session logical reads', 'physical reads', 'physical writes',
    'physical read total bytes', 'physical write total bytes', 'redo size', 'redo writes', 'sorts (disk)', 'table scan rows gotten',
    'DB time', 'CPU used by this session', 'enqueue waits', 'enqueue deadlocks', 'logons current');
select '==> wait <==' from dual;
select 'class' || chr(9) || 'total_waits' || chr(9) || 'time_waited' from dual;
select wait_class || chr(9) || total_waits || chr(9) || time_waited from v$system_wait_class where wait_class <> 'Idle';
select '==> blocker <==' from dual;
select 'sid' || chr(9) || 'text' || chr(9) || 'blocked' || chr(9) || 'wait_s' from dual;
select 0 || chr(9) || 'none' || chr(9) || 0 || chr(9) || 0 from dual;
select b.final_blocking_session || chr(9) || coalesce(max(regexp_replace(substr(regexp_replace(regexp_replace(q.sql_text,
    '''[^'']*(''|$)', '?'), '[[:space:]]+', ' '), 1, 80), '[0-9]+', '?')), 'unknown statement') || chr(9) || count(*) || chr(9)
    || max(b.seconds_in_wait)
from v$session b left join v$session s on s.sid = b.final_blocking_session
    left join v$sql q on q.sql_id = coalesce(s.sql_id, s.prev_sql_id) and q.child_number = 0
where b.final_blocking_session_status = 'VALID' group by b.final_blocking_session;
exit
