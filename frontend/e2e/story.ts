/** The harness's environment variables: the server's URL, and the times of the events on the replayed host. */

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") {
    throw new Error(`${name} is not set; run these tests by: make test-e2e`);
  }
  return value;
}

function instant(name: string): number {
  const ms = Date.parse(required(name));
  if (Number.isNaN(ms)) {
    throw new Error(`${name} is no instant`);
  }
  return ms;
}

export const BASE_URL = required("BASE_URL");
export const LOGIN_LINK = required("LOGIN_LINK");
/** A provider that lets in whoever names himself; groups of a name are put there beforehand. */
export const OIDC_ISSUER = required("OIDC_ISSUER");
export const HOST = required("REPLAY_HOST");
export const LIVE_HOST = required("LIVE_HOST");

export const START = instant("REPLAY_START");
export const BASELINE = { start: instant("BASELINE_START"), end: instant("BASELINE_END") };
export const INCIDENT = { start: instant("INCIDENT_START"), end: instant("INCIDENT_END") };
/** The whole replay, and slightly more. */
export const WHOLE = { start: START - 60_000, end: INCIDENT.end + 6 * 60_000 };

/** The session of the administrator who logged in by the link. */
export const STATE = new URL("../test-results/.login.json", import.meta.url).pathname;
export const SCREENSHOT_DIR = process.env.SCREENSHOT_DIR ?? null;

export const iso = (ms: number): string => new Date(ms).toISOString().replace(".000Z", "Z");
export const range = ({ start, end }: { readonly start: number; readonly end: number }): string =>
  `from=${iso(start)}&to=${iso(end)}&tz=utc`;
