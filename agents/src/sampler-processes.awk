# Processes: at each line of standard input, "<epoch or -> /proc/PID...", prints their files. The words are the seconds between two
# lines and optionally "arguments" and "again". Kernel threads (flag 0x200000) that never ran are left out, and so is the I/O of all
# kernel threads. Kinds of memory (statm) are read only for processes with at least 1024 pages. A process that is new, or runs
# another program, is described once: by the user ids of its status, and by lines that no kernel prints: the name of the user, its
# control group, with the name of a container after a tab, and the arguments, without control characters. The counters of control
# groups follow the processes.
function describe(folder, pid,    name, line, group, container) {
    name = folder "/status"
    while ((getline line < name) > 0) {
        if (line !~ /^Uid:/) continue
        text = text "==> /proc/" pid "/status <==\n" line "\n"
        split(line, fields, " ")
        if (fields[2] in users) text = text "User:\t" users[fields[2]] "\n"
        group = find_groups(folder)
        if (group != "") {
            container = container_name(group)
            text = text "Cgroup:\t" group (container == "" ? "" : "\t" container) "\n"
        }
        if (has_arguments) asked = asked " " folder "/cmdline"
        break
    }
    close(name)
}
# Awks differ in how they handle a NUL, and one prints stray memory: so grep reads the files, one argument a line.
function add_arguments(    command, line, name, last, shown, at, c) {
    command = "LC_ALL=C grep -aHz -m 64 \"\"" asked " 2>/dev/null | tr \"\\n\\000\" \"\\001\\n\""
    last = shown = ""
    while ((command | getline line) > 0) {
        at = index(line, ":")
        name = substr(line, 1, at - 1)
        if (name != last) end_arguments(last, shown)
        shown = name == last ? shown " " : ""
        last = name
        for (at++; at <= length(line) && length(shown) <= 512; at++) {
            c = substr(line, at, 1)
            shown = shown ((c in escaped) ? escaped[c] : c)
        }
    }
    close(command)
    end_arguments(last, shown)
    asked = ""
}
function end_arguments(name, shown) {
    if (name == "") return
    if (length(shown) > 512) shown = substr(shown, 1, 509) "..."
    sub(/cmdline$/, "status", name)
    text = text "==> " name " <==\nArgs:\t" shown "\n"
}
function show(name,    line, n) {
    n = 0
    while ((getline line < name) > 0) {
        if (line ~ /^(rchar|wchar|syscr|syscw):/) continue
        if (n++ == 0) text = text "==> " name " <==\n"
        text = text line "\n"
        # The last line of io: a read of the end would cost as much as all the others.
        if (line ~ /^cancelled_write_bytes:/) break
    }
    close(name)
}
# Kinds of memory cannot have changed where the other counters of the process are the same: no page was mapped, and it did not run.
function show_memory(name, counters,    line) {
    if (last_stat[name] != counters) {
        last_stat[name] = counters
        line = ""
        getline line < name
        close(name)
        last_memory[name] = line == "" ? "" : "==> " name " <==\n" line "\n"
    }
    text = text last_memory[name]
}
# Writes in pieces: each time text grows it is copied, so that one text of a whole report would cost the square of its length.
function flush_text() {
    print text
    text = ""
}
BEGIN {
    every = ARGV[1]
    for (i = 2; i < ARGC; i++) {
        if (ARGV[i] == "arguments") has_arguments = 1
        if (ARGV[i] == "again") is_again = 1
    }
    ARGC = 1
    ORS = ""
    while ((getline entry < "/etc/passwd") > 0) {
        split(entry, fields, ":")
        if (!(fields[3] in users)) users[fields[3]] = fields[1]
    }
    close("/etc/passwd")
    for (i = 2; i < 32; i++) escaped[sprintf("%c", i)] = sprintf("\\x%02x", i)
    escaped["\001"] = "\\x0a"
    escaped["\177"] = "\\x7f"
    for (n_ticks = 0; (getline) > 0; n_ticks++) {
        if (n_ticks == 0) find_controllers()
        epoch = $1
        if (epoch !~ /^[0-9]/) {
            srand()
            epoch = srand()
        }
        text = epoch "\n"
        show("/proc/uptime")
        # The previous awk has described the processes that it saw.
        if (n_ticks == 0 && is_again && split(text, fields, " ") > 5) seen_until = 100 * (fields[5] - 2 * every)
        for (i = 2; i <= NF; i++) {
            if (length(text) > 4000) flush_text()
            file = $i "/stat"
            stat = ""
            getline stat < file
            close(file)
            if (stat == "") continue
            rest = stat
            sub(/^.*\) /, "", rest)
            split(rest, fields, " ")
            is_kernel = int(fields[7] / 2097152) % 2
            if (is_kernel && fields[12] == 0 && fields[13] == 0) continue
            text = text stat "\n"
            if (!is_kernel) show($i "/io")
            if (fields[22] >= 1024) show_memory($i "/statm", stat)
            program = substr(stat, 1, length(stat) - length(rest)) fields[20]
            if (described[$i] != program) {
                described[$i] = program
                if (n_ticks || fields[20] >= seen_until) describe($i, substr($i, 7))
                else if (!is_kernel) find_groups($i)
                if (length(asked) > 60000) add_arguments()
            }
        }
        if (asked != "") add_arguments()
        if (n_ticks == 0) show_disks()
        for (i = 1; i <= n_groups; i++) {
            if (length(text) > 4000) flush_text()
            show_group(groups[i])
        }
        flush_text()
        fflush()
    }
}
