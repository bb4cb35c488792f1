# Databases: `query SECONDS PROGRAM [WORDS]` in stats.conf gives the client PROGRAM of a database the agent's own statements.
# Credentials are in the client's own file: PGPASSFILE or a service for psql, --defaults-file for mysql, a wallet for sqlplus.

readonly QUERY_POSTGRESQL='@postgresql.sql@'

readonly QUERY_MYSQL='@mysql.sql@'

readonly QUERY_ORACLE='@oracle.sql@'

# Sets query_error and returns 1 if stats.conf may not have the line NAME COMMAND.
check_query() {
    query_error=''
    case $1 in
    postgresql | mysql | oracle) ;;
    *) query_error="query records postgresql, mysql and oracle, not '$1'" ;;
    esac
    case ${2#\?} in
    query\ [1-9]\ ?* | query\ [1-9][0-9]\ ?* | query\ [1-9][0-9][0-9]\ ?* | query\ [1-9][0-9][0-9][0-9]\ ?*) ;;
    *) query_error="query must be followed by a number of seconds and the program of the database" ;;
    esac
    # Every account of this host can read this file's text in the list of processes, and the server is sent it.
    case $1:$2 in
    *password=?* | *://*:*@* | mysql:*' -p'[!\ ]* | oracle:*[!\ /]/[!@\ ]*@*)
        query_error="no password here: it belongs to the file of the client (PGPASSFILE, --defaults-file, a wallet)"
        ;;
    esac
    [ -z "$query_error" ]
}

# Becomes the client that COMMAND of SPEC names, or the loop that calls it, for stream KEY.
run_query() {
    rq_words=${2#query }
    rq_every=${rq_words%% *}
    rq_words=${rq_words#* }
    rq_program=${rq_words%% *}
    rq_options=${rq_words#"$rq_program"}
    rq_file=$work/query.$1.sql
    case $1 in
    postgresql) printf '%s' "$QUERY_POSTGRESQL" >"$rq_file" || exit 1 ;;
    mysql) printf '%s' "$QUERY_MYSQL" >"$rq_file" || exit 1 ;;
    oracle) printf '%s' "$QUERY_ORACLE" >"$rq_file" || exit 1 ;;
    esac
    case $1 in
    # In one session: the next report costs no new process, and the server knows what it had in the report before.
    postgresql)
        exec "$shell" -c "exec $rq_program -X -q -A -t -v ON_ERROR_STOP=1 -v every=$rq_every -f '$rq_file'$rq_options" \
            </dev/null 7<&- >>"$3.raw" 2>>"$3.err"
        ;;
    mysql) run_loop "@$rq_every $rq_program$rq_options -B -N -f <'$rq_file'" "$3" ;;
    oracle) run_loop "@$rq_every $rq_program$rq_options @'$rq_file'" "$3" ;;
    esac
}
