/** The text of a rule, as far as the page must understand it: its name. */

const NAME = /^name\s*=\s*"([^"\n]*)"/m;

/** Return the name that a rule's text gives; `unnamed` while it has none, which the server then refuses with its reason. */
export function ruleNameOf(toml: string): string {
  const found = NAME.exec(toml)?.[1]?.trim() ?? "";
  return found === "" ? "unnamed" : found.slice(0, 60);
}

/** Return the text of a rule under another name, so that saving it makes a copy. */
export function copyOfRule(toml: string): string {
  return toml.replace(NAME, (_, name: string) => `name = "${name.slice(0, 55)}-own"`);
}
