// Runs before the first paint and before the page's scripts, which take a while to arrive. The build puts it into index.html (build_page.ts),
// without comments: each is a line of its own.

// Light or dark: the key is the one that Mantine's localStorageColorSchemeManager uses (src/theme.ts).
(function () {
    var chosen = null;
    try {
        chosen = window.localStorage.getItem("normstat-color-scheme");
    } catch {
        // Storage may be forbidden; the system's wish is good enough then.
    }
    var isDark = chosen === "dark" || (chosen !== "light" && window.matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");
})();

// How close rows stand: the key is that of src/state/density.ts.
(function () {
    try {
        if (window.localStorage.getItem("normstat-density") === "compact") {
            document.documentElement.setAttribute("data-density", "compact");
        }
    } catch {
        // Without storage the density is the usual one.
    }
})();

// What the page will ask for and its scripts, at once instead of one after another. src/api/client.ts takes the answers.
(function () {
    var path = window.location.pathname;
    // Pages that need no login: nothing to ask, and a stranger's console stays empty.
    if (path === "/login" || path === "/shared" || path === "/silence") {
        return;
    }
    var asked = ["/auth/me"];
    var found = /^\/hosts\/([^/]+)\/?$/.exec(path);
    if (found) {
        var ofHost = "?host=" + found[1];
        asked.push(
            "/hosts/" + found[1],
            "/stats" + ofHost,
            "/views",
            "/references" + ofHost,
            "/baselines" + ofHost,
            "/exclusions",
        );
        var tab = new URLSearchParams(window.location.search).get("tab");
        var isDrawn = tab === null || tab === "graphs";
        var meta = document.querySelector('meta[name="normstat-host-page"]');
        (meta ? meta.content.split(" ") : []).forEach(function (file) {
            if (file !== "" && (isDrawn || file.indexOf("plotly") < 0)) {
                var link = document.createElement("link");
                link.rel = /\.css$/.test(file) ? "preload" : "modulepreload";
                if (link.rel === "preload") {
                    link.as = "style";
                }
                link.href = file;
                document.head.appendChild(link);
            }
        });
    } else if (path === "/" || path === "/hosts") {
        // Of another moment, the page asks by itself.
        if (!/[?&]at=/.test(window.location.search)) {
            asked.push("/fleet");
        }
    }
    // In the header of every page.
    asked.push("/watch/open");
    var answer = window.fetch("/api/v1/batch", {
        method: "POST",
        headers: { Accept: "application/json", "Content-Type": "application/json", "X-Normstat-Request": "1" },
        body: JSON.stringify({ get: asked }),
    });
    // Whoever takes the answers hears of the failure.
    answer.catch(function () {});
    window.normstatAsked = { addresses: asked, answer: answer };
})();
