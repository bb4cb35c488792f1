import { type RefObject, useEffect } from "react";

const CONTROLS = "button:not(:disabled), a[href], input:not(:disabled), select:not(:disabled)";
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * Make the controls inside an element one stop of the Tab key: the arrow keys, Home and End move between them, in the order in
 * which they are seen. As in ARIA's pattern of a toolbar; a page with dozens of controls is crossed by a few presses.
 */
export function useOneStop(frame: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = frame.current;
    if (element === null) {
      return;
    }
    let current: HTMLElement | null = null;
    /** The controls that are shown, from left to right, or from top to bottom. */
    const controls = (): readonly HTMLElement[] =>
      [...element.querySelectorAll<HTMLElement>(CONTROLS)]
        .filter((control) => control.getClientRects().length > 0)
        .map((control) => ({ control, box: control.getBoundingClientRect() }))
        .sort((one, other) => one.box.left - other.box.left || one.box.top - other.box.top)
        .map(({ control }) => control);
    const mark = (): void => {
      const all = controls();
      const stop = current !== null && all.includes(current) ? current : (all[0] ?? null);
      for (const control of all) {
        const tabIndex = control === stop ? 0 : -1;
        if (control.tabIndex !== tabIndex) {
          control.tabIndex = tabIndex;
        }
      }
    };
    const onFocus = (event: FocusEvent): void => {
      const [control] = event.target instanceof HTMLElement ? controls().filter((each) => each === event.target) : [];
      if (control !== undefined) {
        current = control;
        mark();
      }
    };
    const onKey = (event: KeyboardEvent): void => {
      const all = controls();
      const at = all.findIndex((control) => control === event.target);
      const by = STEPS[event.key];
      const isOpening = event.target instanceof HTMLInputElement && (event.key === "ArrowDown" || event.key === "ArrowUp");
      const next =
        at < 0 || isOpening
          ? undefined
          : event.key === "Home"
            ? all[0]
            : event.key === "End"
              ? all.at(-1)
              : by === undefined
                ? undefined
                : all[(at + by + all.length) % all.length];
      if (next !== undefined) {
        event.preventDefault();
        // The arrow keys move the page's window elsewhere.
        event.stopPropagation();
        next.focus();
      }
    };
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(element, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled", "tabindex"] });
    element.addEventListener("focusin", onFocus);
    element.addEventListener("keydown", onKey);
    return () => {
      observer.disconnect();
      element.removeEventListener("focusin", onFocus);
      element.removeEventListener("keydown", onKey);
    };
  }, [frame]);
}
