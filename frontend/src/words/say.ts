/** What the catalogues are written with. Imports nothing of the page: a catalogue may be loaded before all other modules. */

import { createElement, Fragment, type ReactElement, type ReactNode } from "react";

/** Return a count with its noun: `1 sample`, `86,400 samples`. Thousands are separated the same way in every language. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US", { maximumFractionDigits: 0 })} ${count === 1 ? one : many}`;
}

/** Return a text with parts of the page in it, such as a bold name, in the order of the language. */
export function nodes(texts: TemplateStringsArray, ...parts: readonly ReactNode[]): ReactElement {
  return createElement(Fragment, null, ...texts.flatMap((text, index) => [text, parts[index]]));
}
