import { type RefObject, useEffect, useState } from "react";

/** Return whether the element is in the viewport or close to it. */
export function useNear(element: RefObject<HTMLElement | null>, margin_px = 350): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const watched = element.current;
    if (watched === null) {
      return;
    }
    const observer = new IntersectionObserver(
      (entries) => {
        const last = entries.at(-1);
        if (last !== undefined) {
          setNear(last.isIntersecting);
        }
      },
      { rootMargin: `${String(margin_px)}px 0px` },
    );
    observer.observe(watched);
    return () => {
      observer.disconnect();
    };
  }, [element, margin_px]);
  return isNear;
}
