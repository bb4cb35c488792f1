import { createElement, Fragment, type ReactElement, type ReactNode } from "react";

/** Return a text with parts of the page in it, such as a bold name. */
export function nodes(texts: TemplateStringsArray, ...parts: readonly ReactNode[]): ReactElement {
  return createElement(Fragment, null, ...texts.flatMap((text, index) => [text, parts[index]]));
}
