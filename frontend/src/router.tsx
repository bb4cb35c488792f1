/** Which address shows which page. Pages are loaded when they are opened. */

import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { CrashPage } from "./components/CrashPage";
import { NotFoundPage } from "./components/NotFoundPage";
import { Shell } from "./components/Shell";
import { formatSearch, parseSearch, type RawSearch } from "./state/search";

/** Pages decode their search part themselves (state/url.ts), so that they can show what they could not read. */
function toRawSearch(search: Record<string, unknown>): RawSearch {
  return search as RawSearch;
}

const rootRoute = createRootRoute({ validateSearch: toRawSearch, notFoundComponent: NotFoundPage });

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  component: lazyRouteComponent(() => import("./pages/login/LoginPage"), "LoginPage"),
});

/** Where a message's silence link leads; no login is needed. */
const silenceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/silence",
  component: lazyRouteComponent(() => import("./pages/silence/SilencePage"), "SilencePage"),
});

/** Where a share link leads; no login is needed. */
const sharedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/shared",
  component: lazyRouteComponent(() => import("./pages/shared/SharedPage"), "SharedPage"),
});

const shellRoute = createRoute({ getParentRoute: () => rootRoute, id: "shell", component: Shell });

const indexRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/",
  beforeLoad: () => {
    // oxlint-disable-next-line typescript/only-throw-error -- how TanStack Router redirects
    throw redirect({ to: "/hosts", search: {} });
  },
});

const hostsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/hosts",
  component: lazyRouteComponent(() => import("./pages/hosts/HostsPage"), "HostsPage"),
});

const hostRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/hosts/$host",
  component: lazyRouteComponent(() => import("./pages/host/HostPage"), "HostPage"),
});

/** The accounts of a host's streams are a tab of its page. */
const streamsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/hosts/$host/streams",
  beforeLoad: ({ params, search }) => {
    // oxlint-disable-next-line typescript/only-throw-error -- how TanStack Router redirects
    throw redirect({ to: "/hosts/$host", params, search: { ...search, tab: "streams" } });
  },
});

/** One metric of several hosts. */
const graphRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/graph",
  component: lazyRouteComponent(() => import("./pages/graph/GraphPage"), "GraphPage"),
});

const baselinesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/baselines",
  component: lazyRouteComponent(() => import("./pages/baselines/BaselinesPage"), "BaselinesPage"),
});

const comparisonRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/comparison",
  component: lazyRouteComponent(() => import("./pages/comparison/ComparisonPage"), "ComparisonPage"),
});

/** Two artefacts, before and after. */
const artefactDiffRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/artefacts/diff",
  component: lazyRouteComponent(() => import("./pages/artefacts/ArtefactDiffPage"), "ArtefactDiffPage"),
});

const incidentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/incidents",
  component: lazyRouteComponent(() => import("./pages/incidents/IncidentsPage"), "IncidentsPage"),
});

/** Events, reports and what rules found are in the list of incidents: the links to the pages that they had lead there. */
const eventsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/events",
  beforeLoad: ({ search }) => {
    // oxlint-disable-next-line typescript/only-throw-error -- how TanStack Router redirects
    throw redirect({ to: "/incidents", search: { show: "event", ...search }, replace: true });
  },
});

const artefactsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/artefacts",
  component: lazyRouteComponent(() => import("./pages/artefacts/ArtefactsPage"), "ArtefactsPage"),
});

const artefactRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/artefacts/$artefact",
  component: lazyRouteComponent(() => import("./pages/artefacts/ArtefactPage"), "ArtefactPage"),
});

const experimentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/experiments",
  component: lazyRouteComponent(() => import("./pages/experiments/ExperimentsPage"), "ExperimentsPage"),
});

const experimentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/experiments/$experiment",
  component: lazyRouteComponent(() => import("./pages/experiments/ExperimentPage"), "ExperimentPage"),
});

const reportsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/reports",
  beforeLoad: ({ search }) => {
    // oxlint-disable-next-line typescript/only-throw-error -- how TanStack Router redirects
    throw redirect({ to: "/incidents", search: { show: "report", ...search }, replace: true });
  },
});

const reportRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/reports/$report",
  component: lazyRouteComponent(() => import("./pages/reports/ReportPage"), "ReportPage"),
});

const importsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/imports",
  component: lazyRouteComponent(() => import("./pages/imports/ImportsPage"), "ImportsPage"),
});

const jobsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/jobs",
  component: lazyRouteComponent(() => import("./pages/jobs/JobsPage"), "JobsPage"),
});

const specsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/specs",
  component: lazyRouteComponent(() => import("./pages/specs/SpecsPage"), "SpecsPage"),
});

const newSpecRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/specs/new",
  component: lazyRouteComponent(() => import("./pages/specs/NewSpecPage"), "NewSpecPage"),
});

const specRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/specs/$spec",
  component: lazyRouteComponent(() => import("./pages/specs/SpecPage"), "SpecPage"),
});

const editSpecRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/specs/$spec/edit",
  component: lazyRouteComponent(() => import("./pages/specs/EditSpecPage"), "EditSpecPage"),
});

const storageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/storage",
  component: lazyRouteComponent(() => import("./pages/storage/StoragePage"), "StoragePage"),
});

const installationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/installation",
  component: lazyRouteComponent(() => import("./pages/installation/InstallationPage"), "InstallationPage"),
});

const accountsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/accounts",
  component: lazyRouteComponent(() => import("./pages/accounts/AccountsPage"), "AccountsPage"),
});

const viewsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/views",
  component: lazyRouteComponent(() => import("./pages/views/ViewsPage"), "ViewsPage"),
});

const rulesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/rules",
  component: lazyRouteComponent(() => import("./pages/watch/WatchPage"), "WatchPage"),
});

/** The page that had what is active, its history, and the rules; messages of alerts have links to it. */
const watchRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/watch",
  beforeLoad: ({ search: { tab, ...search } }) => {
    // oxlint-disable-next-line typescript/only-throw-error -- how TanStack Router redirects
    throw tab === undefined || tab === "now" || tab === "history"
      ? redirect({ to: "/incidents", search: { ...(tab === "history" ? { show: "alert" } : {}), ...search }, replace: true })
      : redirect({ to: "/rules", search: { tab, ...search }, replace: true });
  },
});

const ruleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/watch/rules/$rule",
  component: lazyRouteComponent(() => import("./pages/watch/RulePage"), "RulePage"),
});

const editRuleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/watch/rules/$rule/edit",
  component: lazyRouteComponent(() => import("./pages/watch/EditRulePage"), "EditRulePage"),
});

const newRuleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/watch/new-rule",
  component: lazyRouteComponent(() => import("./pages/watch/EditRulePage"), "NewRulePage"),
});

/** A path that is none: said under the header, from which every page is reached. */
const unknownRoute = createRoute({ getParentRoute: () => shellRoute, path: "$", component: NotFoundPage });

const routeTree = rootRoute.addChildren([
  loginRoute,
  silenceRoute,
  sharedRoute,
  shellRoute.addChildren([
    indexRoute,
    hostsRoute,
    hostRoute,
    streamsRoute,
    graphRoute,
    baselinesRoute,
    comparisonRoute,
    artefactDiffRoute,
    incidentsRoute,
    eventsRoute,
    artefactsRoute,
    artefactRoute,
    experimentsRoute,
    experimentRoute,
    reportsRoute,
    reportRoute,
    importsRoute,
    jobsRoute,
    specsRoute,
    newSpecRoute,
    specRoute,
    editSpecRoute,
    storageRoute,
    installationRoute,
    accountsRoute,
    viewsRoute,
    rulesRoute,
    watchRoute,
    ruleRoute,
    editRuleRoute,
    newRuleRoute,
    unknownRoute,
  ]),
]);

export function createAppRouter() {
  return createRouter({
    routeTree,
    parseSearch,
    stringifySearch: formatSearch,
    defaultPreload: false,
    scrollRestoration: true,
    defaultPendingMs: 300,
    defaultErrorComponent: CrashPage,
  });
}
