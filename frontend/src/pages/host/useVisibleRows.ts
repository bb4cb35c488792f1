import { type RefObject, useEffect, useRef, useState } from "react";
import { visibleRows } from "../../logic/process";

interface VisibleRows {
  /** Of the element that scrolls. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly first: number;
  /** The first row that is not drawn any more. */
  readonly last: number;
}

/** Return which of many rows of one height are on the screen: only those are drawn. */
export function useVisibleRows(n: number, rowHeight: number): VisibleRows {
  const scroller = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 800 });
  const [first, last] = visibleRows(n, rowHeight, place.top, place.height);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) {
      return;
    }
    const see = (): void => {
      setPlace({ top: element.scrollTop, height: element.clientHeight });
    };
    const observer = new ResizeObserver(see);
    observer.observe(element);
    element.addEventListener("scroll", see, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", see);
    };
  }, []);
  return { scroller, first, last };
}
