// Sets light or dark before the first paint. A file of its own because the server's Content-Security-Policy forbids inline scripts;
// the key is the one that Mantine's localStorageColorSchemeManager uses (src/theme.ts).
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
