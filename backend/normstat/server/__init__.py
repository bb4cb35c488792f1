"""The server process: sockets, HTTP/1.1, TLS, workers, and the private PostgreSQL of `make run`.

Responsible for: limits of connections and handshakes by address, certificates, starting and stopping processes. Never: routes,
arguments of commands. Entry points: `workers` is the parent of several server processes, `server_process` one of them, `embedded`
the database beside them.
"""
