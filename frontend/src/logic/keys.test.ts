import { getHotkeyHandler } from "@mantine/hooks";
import { describe, expect, it } from "vitest";
import { HELP_KEYS, KEYS } from "./keys";

/** What a browser reports for the keys of the help dialog where it is not the character shown. */
const NAMES: Readonly<Record<string, string>> = { "←": "ArrowLeft", "→": "ArrowRight", "−": "-", Esc: "Escape" };

/** The commands that a key press runs. */
function pressed(key: string, shiftKey = false): readonly string[] {
  const run: string[] = [];
  const handler = getHotkeyHandler([
    ...KEYS.flatMap(({ command, keys }) => keys.map((name): [string, () => void] => [name, () => run.push(command)])),
    ...HELP_KEYS.map((name): [string, () => void] => [name, () => run.push("help")]),
  ]);
  const event = { key, shiftKey, altKey: false, ctrlKey: false, metaKey: false, preventDefault: () => undefined };
  handler(event as unknown as KeyboardEvent);
  return run;
}

describe("the keys of the help dialog", () => {
  it.each(KEYS.map(({ shown, command }) => [shown, command]))("%s: %s", (shown, command) => {
    expect(pressed(NAMES[shown] ?? shown)).toEqual([command]);
  });

  it("zoom in on every keyboard: a key of its own, shifted, or without Shift", () => {
    expect(pressed("+")).toEqual(["zoom-in"]);
    expect(pressed("+", true)).toEqual(["zoom-in"]);
    expect(pressed("=")).toEqual(["zoom-in"]);
  });

  it("open the help with ?, with or without Shift", () => {
    expect(pressed("?", true)).toEqual(["help"]);
    expect(pressed("?")).toEqual(["help"]);
  });
});
