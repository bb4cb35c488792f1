# Ownership: which files and folders are safe to use.
# Anyone who can write to the spool, or replace it, could make the agent write, delete and kill with the rights of its user. So
# before anything in it is touched, it must belong to this user alone, and no other user may be able to change the path to it.

# Sets my_uid. Not every old id has -u.
find_uid() {
    [ -z "$my_uid" ] || return 0
    my_uid=$(id) || die "this host has no id in $PATH"
    my_uid=${my_uid#uid=}
    my_uid=${my_uid%%[!0-9]*}
    is_count "$my_uid" || die "id on this host does not print the user id"
}

# Sets e_line, e_mode, e_uid and e_gid to what ls prints about PATH itself: about a link, not its target.
read_entry() {
    e_line=$(ls -ldn -- "$1" 2>/dev/null) || return 1
    set -f
    # shellcheck disable=SC2086  # its words
    set -- $e_line
    set +f
    e_mode=$1 e_uid=$3 e_gid=$4
}

# Sets real to PATH with every link resolved. Returns 1 if it does not exist; real is then where it would be.
# Ends the agent if another user could redirect the path.
follow_path() {
    find_uid
    real='' fp_links=0
    case $1 in
    /*) fp_rest=$1 ;;
    *) fp_rest=$PWD/$1 ;;
    esac
    read_entry / && check_entry / "$1"
    while :; do
        while :; do
            case $fp_rest in
            /*) fp_rest=${fp_rest#/} ;;
            *) break ;;
            esac
        done
        fp_name=${fp_rest%%/*}
        case $fp_rest in
        */*) fp_rest=${fp_rest#*/} ;;
        *) fp_rest='' ;;
        esac
        case $fp_name in
        '') break ;;
        .) continue ;;
        ..)
            real=${real%/*}
            continue
            ;;
        esac
        if ! read_entry "$real/$fp_name"; then
            real=$real/$fp_name${fp_rest:+/$fp_rest}
            return 1
        fi
        check_entry "$real/$fp_name" "$1"
        case $e_mode in
        l*) ;;
        *)
            real=$real/$fp_name
            continue
            ;;
        esac
        fp_links=$((fp_links + 1))
        [ "$fp_links" -le 40 ] || die "too many symbolic links in $1"
        fp_link=${e_line#*"$real/$fp_name -> "}
        fp_rest=$fp_link/$fp_rest
        case $fp_link in
        /*) real='' ;;
        esac
    done
    real=${real:-/}
}

# Ends the agent unless what read_entry found at AT can be trusted as a part of PATH. A link must be this user's or root's. In a
# folder with the sticky bit, such as /tmp, others can write but replace only what is theirs. root trusts only root.
check_entry() {
    ce_what=$1
    [ "$1" = "$2" ] || ce_what="$1, on the way to $2,"
    case $e_mode in
    l*)
        [ "$e_uid" = "$my_uid" ] || [ "$e_uid" = 0 ] ||
            die "$ce_what is a symbolic link of uid $e_uid, who could redirect it: use another path"
        return 0
        ;;
    d????????[tT]*) ;;
    ????????w*) die "everybody can write to $ce_what: check its contents, then chmod o-w $1, or use another path" ;;
    ?????w*)
        [ "$my_uid" != 0 ] || [ "$e_gid" = 0 ] ||
            die "the group $e_gid can write to $ce_what but this is root: check its contents, then chmod g-w $1"
        ;;
    esac
    [ "$my_uid" != 0 ] || [ "$e_uid" = 0 ] ||
        die "$ce_what belongs to uid $e_uid but this is root: run as that user, or use another path"
}

# Checks the listing of a spool: a link or a pipe in it would send writes elsewhere, and another user could change a file of theirs.
# No other user can put one there now, but one could have before the folder was closed to others.
check_listing() {
    while read -r cl_mode _a cl_uid cl_rest; do
        case $cl_mode in
        [lpsbcD][-r][-w]*) die "$spool contains something that is not a regular file and not the agent's: $cl_mode $cl_rest" ;;
        [-d][-r][-w]*)
            [ "$cl_uid" = "$my_uid" ] || [ "$cl_uid" = 0 ] ||
                die "$spool contains something that belongs to uid $cl_uid, not to uid $my_uid: $cl_mode $cl_rest"
            ;;
        esac
    done
}

# Sets script to the path of this file.
set_script() {
    case $0 in
    /*) script=$0 ;;
    *) script=$home/${0##*/} ;;
    esac
}
