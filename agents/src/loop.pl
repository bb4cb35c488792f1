# Runs a command at an interval in seconds, printing the epoch before each run, until the agent is gone.
my ($every, $agent, @command) = @ARGV;
my $child;
$| = 1;
for my $signal (qw(HUP INT TERM)) {
    $SIG{$signal} = sub { kill TERM => $child if $child; exit 143 };
}
while (kill 0, $agent) {
    my $begin = time;
    print "$begin\n";
    $child = fork;
    if (!defined $child) { print STDERR "cannot start $command[0]: $!\n" }
    elsif (!$child) {
        exec { $command[0] } @command or print STDERR "cannot run $command[0]: $!\n";
        exit 127;
    }
    else { waitpid $child, 0 }
    $child = 0;
    # A clock that was set back, or a slow command, must not make the loop wait for long or spin.
    my $rest = $begin + $every - time;
    sleep($rest < 1 ? 1 : $rest > $every ? $every : $rest);
}
