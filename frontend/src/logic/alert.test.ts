import { describe, expect, test } from "vitest";
import { describeDays, describeMatch, describeSending, moved, newRoute, toChannelForm, toChannelSettings } from "./alert";

describe("a channel as a form", () => {
  test("keeps its secrets unless others are typed", () => {
    const settings = { kind: "webhook", url: null, authorization: null, template: "{}" } as const;
    const form = toChannelForm({ name: "on call", kind: "webhook", is_enabled: false, settings });
    expect(form).toMatchObject({ name: "on call", is_enabled: false, url: "", template: "{}" });
    expect(toChannelSettings(form)).toEqual(settings);
    expect(toChannelSettings({ ...form, url: "https://x" })).toEqual({ ...settings, url: "https://x" });
  });

  test("removes a secret only when that is asked for, whatever was typed before", () => {
    const settings = { kind: "webhook", url: null, authorization: null, template: "" } as const;
    const form = toChannelForm({ name: "on call", kind: "webhook", is_enabled: true, settings });
    const removed = { ...form, authorization: "Bearer x", removed: ["authorization"] } as const;
    expect(toChannelSettings(removed)).toEqual({ ...settings, authorization: "" });
    const mail = toChannelSettings({ ...form, kind: "email", removed: ["password"] });
    expect(mail).toMatchObject({ kind: "email", password: "" });
    expect(toChannelSettings({ ...form, kind: "email" })).toMatchObject({ password: null });
  });

  test("has the labels of an Alertmanager as text", () => {
    const settings = {
      kind: "alertmanager",
      url: "https://am",
      authorization: null,
      labels: { team: "dba", site: "a=b" },
    } as const;
    const form = toChannelForm({ name: "am", kind: "alertmanager", is_enabled: true, settings });
    expect(form.labels).toEqual(["team=dba", "site=a=b"]);
    expect(toChannelSettings(form)).toEqual(settings);
  });

  test("whose settings cannot be read begins empty", () => {
    expect(toChannelForm({ name: "old", kind: "email", is_enabled: true, settings: null }).server).toBe("");
  });
});

describe("a route in words", () => {
  const route = newRoute("Europe/Berlin");

  test("says what it takes", () => {
    expect(describeMatch(route)).toBe("everything; critical or worse");
    const match = {
      ...route.match,
      hosts: ["web*", "db1"],
      hours: [{ weekdays: [1, 2, 3, 4, 5], start: "18:00", end: "08:00" }],
    };
    expect(describeMatch({ match })).toBe("hosts web*, db1; critical or worse; Mon–Fri 18:00–08:00 (Europe/Berlin)");
  });

  test("says to whom, when, and who else hears of it", () => {
    const settings = { ...route, channels: [1], repeat_min: 60, escalations: [{ after_min: 15, channels: [2] }], is_last: true };
    expect(describeSending(settings, (id) => `channel ${String(id)}`)).toBe(
      "to channel 1; after 30 s; again every 1 h; unacknowledged for 15 min: also to channel 2; sends a message when it ends; routes below do not get it",
    );
  });

  test("has days in runs", () => {
    expect(describeDays([7, 1, 2, 4, 5, 6])).toBe("Mon, Tue, Thu–Sun");
  });
});

test("a route moves by one place, and not beyond the ends", () => {
  expect(moved([5, 6, 7], 6, -1)).toEqual([6, 5, 7]);
  expect(moved([5, 6, 7], 7, 1)).toEqual([5, 6, 7]);
});
