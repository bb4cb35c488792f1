import { useNavigate, useSearch } from "@tanstack/react-router";
import { encodeFlame, flameOf, type FlameView } from "../../state/flame";

type Change = (changed: Partial<FlameView>) => void;

/** Return how the flame graph of a part is shown, and what changes it: both are in the URL. A zoom can be undone by going back. */
export function useFlame(part: string): readonly [FlameView, Change] {
  const raw = useSearch({ strict: false });
  const navigate = useNavigate();
  const view = flameOf(raw["flame"], part);
  const change: Change = (changed) => {
    const said = encodeFlame({ ...view, ...changed });
    const { flame: _, ...rest } = raw;
    void navigate({
      to: ".",
      search: said === "" ? rest : { ...rest, flame: said },
      replace: changed.focus === undefined && changed.called === undefined,
      resetScroll: false,
    });
  };
  return [view, change];
}
