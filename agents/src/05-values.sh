# Values: numbers, lists and text, without starting a process.
# POSIX shells have no arrays: short lists, such as the streams that tools write to, are strings " a=1 b=2 ".

# Returns whether VALUE is a number that every shell can compute with. Values from files and servers are checked first: in an
# arithmetic expression some shells run a command in a[$(...)], and others exit at 08.
is_count() {
    case $1 in
    '' | *[!0-9]* | 0?* | ????????????????*) return 1 ;;
    *) return 0 ;;
    esac
}

is_in() {
    case $1 in
    *" $2 "*) return 0 ;;
    *) return 1 ;;
    esac
}

# Sets value to the value of KEY in LIST, or to DEFAULT.
get_value() {
    case $1 in
    *" $2="*)
        value=${1#*" $2="}
        value=${value%% *}
        ;;
    *) value=$3 ;;
    esac
}

# Sets list to LIST without KEY.
drop_value() {
    list=$1
    case $1 in
    *" $2="*)
        dv_after=${1#*" $2="}
        list="${1%%" $2="*} ${dv_after#* }"
        ;;
    esac
}

to_absolute() {
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
    esac
}

require_number() {
    case $2 in
    '' | *[!0-9]* | ??????????*) die_usage "--$1 must be a number, not '$2'" ;;
    esac
}

# Sets bytes and kbytes. The sum over a spool is kept in kbytes: some shells compute with 32 bits.
to_bytes() {
    tb_number=${2%[kKmMgG]}
    require_number "$1" "$tb_number"
    case $2 in
    *[kK]) kbytes=$tb_number bytes=$((tb_number * 1024)) ;;
    *[mM]) kbytes=$((tb_number * 1024)) bytes=$((tb_number * 1048576)) ;;
    *[gG]) kbytes=$((tb_number * 1048576)) bytes=$((tb_number * 1073741824)) ;;
    *) kbytes=$(((tb_number + 1023) / 1024)) bytes=$tb_number ;;
    esac
    # The product has overflowed where it gives another number of kbytes. Only the kbytes of the spool limit are used.
    if [ "$kbytes" -le 0 ] || { [ "$1" != spool-limit ] && [ $(((bytes + 1023) / 1024)) -ne "$kbytes" ]; }; then
        die_usage "--$1 is too small or too large: '$2'"
    fi
}

# Sets hex to the digit of 0..15.
to_hex() {
    case $1 in
    10) hex=A ;;
    11) hex=B ;;
    12) hex=C ;;
    13) hex=D ;;
    14) hex=E ;;
    15) hex=F ;;
    *) hex=$1 ;;
    esac
}

# Sets plain to TEXT, safe for a log and a terminal: empty if it has non-printable characters, and cut to 200 characters.
to_plain() {
    plain=$1
    case $plain in
    *[!\ -~]*) plain='' ;;
    esac
    [ "${#plain}" -le 200 ] || plain=$(printf '%.200s' "$plain")
}

# Sets last_line to the last line of FILE.
read_last_line() {
    last_line=''
    [ ! -s "$1" ] || while IFS= read -r rl_line || [ -n "$rl_line" ]; do last_line=$rl_line; done <"$1"
}

# Sets first_line to the first line of FILE. Returns 1 if it is empty or cannot be read: some files of the kernel can be opened, but
# not read.
read_first() {
    first_line=''
    [ -r "$1" ] || return 1
    { IFS= read -r first_line <"$1"; } 2>/dev/null
    [ -n "$first_line" ]
}
