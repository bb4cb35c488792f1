/** Whether only what a push needs is run: without tests tagged @matrix. `make test` says so, `make test-all` and a run by hand do not. */
export const IS_PUSH = process.env.NORMSTAT_BROWSER_TESTS === "push";
