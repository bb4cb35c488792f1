/** The five places of the page, each with its pages. */

export interface PlacePage {
  readonly to:
    | "/hosts"
    | "/graph"
    | "/views"
    | "/incidents"
    | "/comparison"
    | "/artefacts"
    | "/experiments"
    | "/imports"
    | "/baselines"
    | "/rules"
    | "/specs"
    | "/jobs"
    | "/storage"
    | "/installation"
    | "/accounts";
  readonly label: string;
  /** Where more pages of it are. */
  readonly also?: string;
}

export interface Place {
  readonly label: string;
  /** The place itself leads to the first one. */
  readonly pages: readonly [PlacePage, ...PlacePage[]];
}

const PLACES: readonly Place[] = [
  { label: "Hosts", pages: [{ to: "/hosts", label: "Hosts" }] },
  {
    label: "Explore",
    pages: [
      { to: "/graph", label: "Graph" },
      { to: "/views", label: "Views" },
    ],
  },
  {
    label: "Incidents",
    pages: [
      { to: "/incidents", label: "All incidents", also: "/reports" },
      { to: "/comparison", label: "Compare" },
    ],
  },
  {
    label: "Evidence",
    pages: [
      { to: "/artefacts", label: "Artefacts" },
      { to: "/experiments", label: "Experiments" },
      { to: "/imports", label: "Import" },
    ],
  },
  {
    label: "Settings",
    pages: [
      { to: "/baselines", label: "Baselines" },
      { to: "/rules", label: "Rules and alerts", also: "/watch" },
      { to: "/specs", label: "Specs" },
      { to: "/jobs", label: "Jobs" },
      { to: "/storage", label: "Storage" },
      { to: "/installation", label: "Installation" },
      { to: "/accounts", label: "Accounts" },
    ],
  },
];

/** Return the places as an account sees them: storage is about all hosts, which a limited account does not see. */
export function placesOf(isLimited: boolean): readonly Place[] {
  return PLACES.map((place) => {
    const [first, ...others] = place.pages;
    return { ...place, pages: [first, ...others.filter(({ to }) => !isLimited || to !== "/storage")] };
  });
}

/** Return the place of a path, such as `/reports/7`. Missing: null for a path that is none. */
export function placeAt(places: readonly Place[], path: string): Place | null {
  const isIn = (prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);
  return places.find(({ pages }) => pages.some(({ to, also }) => isIn(to) || (also !== undefined && isIn(also)))) ?? null;
}
