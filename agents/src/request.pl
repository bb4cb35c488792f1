# Makes the request for the frame headers in lock/frames: in memory if it sends it, else in lock/body (packed: body.gz). It prints
# the epoch first. HTTP/1.0, so that the answer ends with the connection and is never in chunks. The head of the answer goes to
# standard output, its body to a file. An IPv4 socket needs no module; the modules may find what gethostbyname does not.
my ($work, $packer, $to, $limit, $max, $socket, $tls, $host, $port, $path, $ca, $text, $cert, $key) = @ARGV;
my ($now, $body) = (time, "");
sub fail { print STDERR @_, "\n"; exit 1 }
sub save {
    my ($name, $text) = @_;
    open(OUT, ">", $name) && binmode(OUT) && print(OUT $text) && close(OUT)
        or fail("cannot write $name: $!: is the file system full?");
}
$SIG{ALRM} = sub { fail("time out") };
alarm($limit || 60);
if ($text) { open(TEXT, "<", $text) && binmode(TEXT) or fail("cannot read $text: $!") }
else { open(FRAMES, "<", "$work/frames") or fail("cannot read $work/frames: $!") }
while (!$text and my $header = <FRAMES>) {
    my ($kind, $spec, $key, $offset, $length) = split / /, $header;
    $body .= $header;
    next if $kind ne "stream";
    open(RAW, "<", "$key.raw") && binmode(RAW) && sysseek(RAW, $offset, 0) or fail("cannot read $key.raw: $!");
    my $end = $length + length $body;
    while (length($body) < $end) { sysread(RAW, $body, $end - length($body), length $body) or last }
    length($body) == $end or fail("$key.raw is shorter than ", $offset + $length, " bytes");
}
if (!$text && ($packer ne "none" || $to eq "pack")) { save("$work/body", $body) }
if (!$text && $packer ne "none") {
    open(PACKED, "-|", $packer, "-c", "$work/body") or fail("cannot run $packer: $!");
    binmode PACKED;
    $body = "";
    1 while sysread(PACKED, $body, 65536, length $body);
    close(PACKED) or fail("$packer ended with status ", $? >> 8);
    save("$work/body.gz", $body) if $to eq "pack";
}
print $now, "\n";
exit 0 if $to eq "pack";

(my $peer = $host) =~ tr/[]//d;
my ($s, $why);
alarm(10) if $limit > 10;
if ($socket) {
    my (undef, undef, undef, undef, @found) = gethostbyname($peer);
    for my $address (@found) {
        socket(S, 2, $socket, 6) && connect(S, pack("S n a4 x8", 2, $port, $address)) and $s = \*S and last;
        $why = $!;
    }
}
alarm $limit;
if (!$s) {
    my $class = $tls ? "IO::Socket::SSL" : $socket || $peer =~ /:/ ? "IO::Socket::IP" : "IO::Socket::INET";
    eval "require $class" or fail($why ? "cannot connect to $host port $port: $why" : "perl has no $class");
    my @tls = $tls ? (SSL_verify_mode => 1, SSL_hostname => $peer, SSL_verifycn_name => $peer, SSL_verifycn_scheme => "http",
        ($ca ? (SSL_ca_file => $ca) : ()), ($cert ? (SSL_use_cert => 1, SSL_cert_file => $cert, SSL_key_file => $key) : ())) : ();
    $s = $class->new(PeerAddr => $peer, PeerPort => $port, Proto => "tcp", Timeout => 10, @tls)
        or do { my $cause = $@ || $!; $cause =~ s/^IO::Socket::\w+: (connect: )?//; fail("cannot connect to $host port $port: $cause") };
}
open(HEADERS, "<", "$work/headers") or fail("cannot read the headers: $!");
my $sent = "POST $path HTTP/1.0\nHost: $host:$port\nNormstat-Time: $now\nContent-Length: " . ($text ? -s TEXT : length($body)) . "\n";
$sent .= $_ while <HEADERS>;
$sent =~ s/\n/\r\n/g;
$sent .= "\r\n$body";
# A server that refuses a request may answer before it has read it.
$SIG{PIPE} = "IGNORE";
while (1) {
    my $at = 0;
    while ($at < length $sent) { $at += syswrite($s, $sent, length($sent) - $at, $at) || last }
    last if $at < length $sent || !$text || !sysread(TEXT, $sent, 65536);
}
my $answer = "";
while (length $answer <= $max) { sysread($s, $answer, 16384, length $answer) or last }
fail("the answer is longer than $max bytes") if length $answer > $max;
my ($head, $rest) = split /\r?\n\r?\n/, $answer, 2;
print $head, "\n" if defined $head;
$rest = "" if !defined $rest;
save("$work/answer", $rest);
fail("the answer ends early") if defined $head && $head =~ /^content-length: *([0-9]{1,9})/im && length($rest) < $1;
