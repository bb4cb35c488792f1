# The commands ask and put.

# Returns whether a line `ask` may have COMMAND; if not, sets allowed_error.
check_allowed() {
    allowed_error=''
    case $1 in
    '' | ' '* | *' ') allowed_error='ask must be followed by a tab and a command' ;;
    '*' | '* '*) allowed_error='a * cannot stand for the program' ;;
    *[!\ -~]*) allowed_error='a command may contain only printable ASCII' ;;
    esac
    [ "${#1}" -le 4000 ] || allowed_error='longer than 4000 characters'
    [ -z "$allowed_error" ]
}

# Returns whether a line `ask` of the stats file allows COMMAND: word for word, where a word * of the line stands for one word of
# letters, digits and . _ : , + - that does not begin with a dash. No such word can be a path or an option, or mean something to a
# shell.
is_allowed() {
    while IFS="$TAB" read -r il_name il_pattern; do
        [ "$il_name" = ask ] && check_allowed "$il_pattern" && matches_words "$il_pattern" "$1" && return 0
    done <"$stats"
    return 1
}

matches_words() {
    mw_pattern=$1 mw_command=$2
    while [ -n "$mw_pattern" ] && [ -n "$mw_command" ]; do
        mw_word=${mw_command%% *}
        case ${mw_pattern%% *} in
        '*')
            case $mw_word in
            '' | -* | *[!A-Za-z0-9._:,+-]*) return 1 ;;
            esac
            ;;
        "$mw_word") ;;
        *) return 1 ;;
        esac
        case $mw_pattern in
        *' '*) mw_pattern=${mw_pattern#* } ;;
        *) mw_pattern='' ;;
        esac
        case $mw_command in
        *' '*) mw_command=${mw_command#* } ;;
        *) mw_command='' ;;
        esac
    done
    [ -z "$mw_pattern$mw_command" ]
}

# Prints the commands that the stats file allows.
print_allowed() {
    while IFS="$TAB" read -r il_name il_pattern; do
        if [ "$il_name" = ask ]; then printf '    %s\n' "$il_pattern"; fi
    done <"$stats"
}

# Sets command to WORDS as one line for a shell: several words are quoted where they need it, a single one is a whole command.
join_words() {
    command=${1:-}
    [ $# -gt 1 ] || return 0
    command=''
    for jw_word in "$@"; do
        case $jw_word in
        '' | *[!A-Za-z0-9._:/@%+=,-]*)
            jw_rest=$jw_word jw_word=''
            while :; do
                case $jw_rest in
                *\'*) jw_word="$jw_word${jw_rest%%\'*}'\\''" jw_rest=${jw_rest#*\'} ;;
                *) break ;;
                esac
            done
            jw_word="'$jw_word$jw_rest'"
            ;;
        esac
        command="$command${command:+ }$jw_word"
    done
}

# Returns whether COMMAND reports on standard error, since its standard output is that of the program it runs.
tells_on_stderr() {
    ts_command=$1
    while :; do
        case $ts_command in
        'sudo '*) ts_command=${ts_command#sudo } ;;
        'timeout '*' '*) ts_command=${ts_command#timeout * } ;;
        *) break ;;
        esac
    done
    ts_program=${ts_command%% *}
    case ${ts_program##*/} in
    strace | ltrace | truss | [t]ime | timex | ptime) return 0 ;;
    perf)
        case $ts_command in
        *'perf stat '* | *'perf trace '*) return 0 ;;
        esac
        ;;
    esac
    return 1
}

# Runs COMMAND for text KEY in FOLDER.
run_text_tool() {
    # shellcheck disable=SC2016  # for the other shell
    "$shell" -c 'ulimit -f "$4" 2>/dev/null; printf "%s\n" $$ >"$1.pid" && cd "$5" && exec "$2" -c "exec $3"' sh \
        "$spool/artefacts/$1" "$shell" "$2" $((max_text / 512)) "$3"
}

# Makes what COMMAND reported text KEY, from its standard output or its standard error; STATUS is how it ended.
pick_text() {
    if [ -n "$is_stderr" ] || tells_on_stderr "$2"; then
        [ ! -s "artefacts/$1.err" ] || mv "artefacts/$1.err" "artefacts/$1.part"
    elif [ ! -s "artefacts/$1.part" ] && [ "$3" -eq 0 ]; then
        mv "artefacts/$1.err" "artefacts/$1.part"
    fi
    # 126, 127: the program could not be run, so what was printed is not its output.
    case $3 in
    126 | 127) : >"artefacts/$1.part" ;;
    esac
}

# Runs a command that this host allows, and sends what it prints.
command_ask() {
    [ "$n_options" -eq 0 ] || shift "$n_options"
    [ -z "$text_command$text_start$text_end" ] || die_usage "--command, --start and --end are for put: ask knows them"
    if ! follow_path "$stats" || [ ! -r "$stats" ]; then die "cannot read $stats, which lists the commands that this host allows"; fi
    join_words ${1+"$@"}
    if [ -z "$command" ]; then
        printf 'Allowed by the lines ask<TAB>COMMAND of %s:\n' "$stats"
        print_allowed
        exit 0
    fi
    if ! is_allowed "$command"; then
        printf 'normstat-agent: this host does not allow the command: %s\n' "$command" >&2
        printf 'An administrator of the host can allow it with a line ask<TAB>COMMAND in %s. Allowed:\n' "$stats" >&2
        print_allowed >&2
        exit 1
    fi
    has "${command%% *}" || die "no program ${command%% *} in $PATH"
    require_server
    require_token
    begin_text
    text_command=$command text_start=$text_taken
    write_query "$key"
    mkdir "$work/folder" || die "cannot write to $work"
    guard_text "$key" </dev/null >/dev/null 2>&1 &
    guard_pid=$!
    # The command is not started with &: it would ignore the INT of the terminal, with which people end a truss.
    trap : INT
    run_text_tool "$key" "$command" "$work/folder" </dev/null >"artefacts/$key.part" 2>"artefacts/$key.err"
    text_status=$?
    text_end=$(date -u '+%Y-%m-%dT%H:%M:%SZ')
    end_processes "$guard_pid"
    cat "artefacts/$key.part"
    cat "artefacts/$key.err" >&2
    pick_text "$key" "$command" "$text_status"
    [ "$text_status" -eq 0 ] || printf 'normstat-agent: the command ended with status %s\n' "$text_status" >&2
    write_query "$key"
    finish_text "$key"
    exit_status=0
    exit 0
}

# Waits for the end of ask: if it is killed without a chance to clean up, its command must not slow down the host forever.
guard_text() {
    trap - 0
    trap '' INT
    trap '[ -z "$gt_sleep" ] || kill "$gt_sleep" 2>/dev/null; exit 0' HUP TERM
    gt_sleep=''
    while kill -0 $$ 2>/dev/null; do
        sleep 1 &
        gt_sleep=$!
        wait "$gt_sleep"
    done
    gt_sleep=''
    end_text_tool "$1"
    rm -rf "$work"
    exit 0
}

# Sends standard input, or a file.
command_put() {
    [ "$n_options" -eq 0 ] || shift "$n_options"
    [ $# -le 1 ] || die_usage "put takes one file, or standard input"
    [ -z "$is_stderr" ] || die_usage "--stderr is for ask"
    put_file=''
    if [ $# -eq 1 ] && [ "$1" != - ]; then
        put_file=$(to_absolute "$1")
        if ! [ -f "$put_file" ] || ! [ -r "$put_file" ]; then die "cannot read the file $put_file"; fi
    elif [ -t 0 ]; then
        die_usage "put reads a pipe or a file: COMMAND | normstat-agent put, or normstat-agent put FILE"
    fi
    require_server
    require_token
    begin_text
    # An INT of the terminal is for the tool on the other side of the pipe, which then prints what it found.
    trap '' INT
    if [ -n "$put_file" ]; then
        text_name=${put_file##*/}
        exec 3<"$put_file" || die "cannot read the file $put_file"
    else
        text_start=${text_start:-$text_taken}
        exec 3<&0
    fi
    write_query "$key"
    {
        ulimit -f $((max_text / 512 + 1)) 2>/dev/null
        exec cat
    } <&3 >"artefacts/$key.part" 2>"artefacts/$key.err" &
    wait $!
    cp_status=$?
    exec 3<&-
    read_size "artefacts/$key.part"
    if [ "$cp_status" -ne 0 ] && [ "$size" -lt "$max_text" ]; then
        read_last_line "artefacts/$key.err"
        rm -f "artefacts/$key".*
        die "cannot keep the text: ${last_line:-cat ended with status $cp_status}; is the file system of $spool full?"
    fi
    [ -n "$put_file" ] || text_end=${text_end:-$(date -u '+%Y-%m-%dT%H:%M:%SZ')}
    write_query "$key"
    finish_text "$key"
    exit_status=0
    exit 0
}
