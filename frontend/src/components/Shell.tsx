import {
  ActionIcon,
  Burger,
  Button,
  Group,
  Menu,
  SegmentedControl,
  Text,
  Tooltip,
  useMantineColorScheme,
  useComputedColorScheme,
} from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { IconHelp, IconMoon, IconSun, IconUser } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef } from "react";
import { ApiError } from "../api/client";
import { logOut } from "../api/endpoints";
import { healthQuery, meQuery } from "../api/queries";
import { HELP_KEYS, PALETTE_KEYS } from "../logic/keys";
import type { Me } from "../logic/api";
import { zoneLabel } from "../logic/zone";
import { readNow, zoneOf } from "../state/clock";
import { isKiosk } from "../state/fleet";
import { openPalette, usePalette } from "../state/palette";
import type { RawSearch } from "../state/search";
import type { Clock } from "../state/url";
import { MeContext } from "./me";
import { PaletteButton } from "./palette/PaletteButton";
import { PasswordPrompt } from "./PasswordPrompt";
import { ShortcutsDialog } from "./ShortcutsDialog";
import { StateView } from "./StateView";
import "./Shell.css";

const PAGES = [
  { to: "/hosts", label: "Hosts" },
  { to: "/graph", label: "Graph" },
  { to: "/comparison", label: "Compare" },
  { to: "/baselines", label: "Baselines" },
  { to: "/events", label: "Events" },
  { to: "/views", label: "Views" },
  { to: "/imports", label: "Import" },
  { to: "/jobs", label: "Jobs" },
  { to: "/specs", label: "Specs" },
  { to: "/storage", label: "Storage" },
  { to: "/accounts", label: "Accounts" },
] as const;

const loadPalette = () => import("./palette/Palette").then((module) => ({ default: module.Palette }));
const Palette = lazy(loadPalette);

/** Return the clock that the link names, local time by default. */
function useClock(): Clock {
  const search = useSearch({ strict: false });
  return search["tz"] === "utc" ? "utc" : "local";
}

/** Return the search parameters that are kept when switching pages. */
function inherited(clock: Clock): RawSearch {
  return clock === "utc" ? { tz: "utc" } : {};
}

function ClockSwitch({ clock }: { readonly clock: Clock }) {
  const navigate = useNavigate();
  const local = zoneOf("local");
  return (
    <Tooltip label={`Show times in this browser's zone (${local}, ${zoneLabel(local, readNow())}) or in UTC; saved in the link`}>
      <SegmentedControl
        size="xs"
        aria-label="Clock"
        value={clock}
        data={[
          { value: "local", label: "Local" },
          { value: "utc", label: "UTC" },
        ]}
        onChange={(value) => {
          void navigate({
            to: ".",
            replace: true,
            search: ({ tz: _, ...rest }: RawSearch) => (value === "utc" ? { ...rest, tz: "utc" } : rest),
          });
        }}
      />
    </Tooltip>
  );
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const other = scheme === "dark" ? "light" : "dark";
  return (
    <Tooltip label={`Switch to ${other}; Shift-click to follow the system`}>
      <ActionIcon
        aria-label={`Switch to ${other} colours`}
        onClick={(event) => {
          setColorScheme(event.shiftKey ? "auto" : other);
        }}
      >
        {scheme === "dark" ? <IconSun size={17} /> : <IconMoon size={17} />}
      </ActionIcon>
    </Tooltip>
  );
}

function AccountMenu({ me }: { readonly me: Me }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const version = useQuery(healthQuery).data;
  const leaving = useMutation({
    mutationFn: logOut,
    onSettled: () => {
      client.clear();
      void navigate({ to: "/login", search: {} });
    },
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="subtle" color="gray" leftSection={<IconUser size={15} />}>
          {me.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{me.role}</Menu.Label>
        <Menu.Item
          onClick={() => {
            void navigate({ to: "/accounts", search: {} });
          }}
        >
          Password and tokens
        </Menu.Item>
        <Menu.Item
          onClick={() => {
            leaving.mutate();
          }}
        >
          Log out
        </Menu.Item>
        {version && (
          <Menu.Label>
            normstat {version.version} on {version.storage}
          </Menu.Label>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Redirects once to the login with the requested address, because the address changes before this page is unmounted. */
function RedirectToLogin({ next }: { readonly next: string }) {
  const navigate = useNavigate();
  const asked = useRef(next);
  useEffect(() => {
    void navigate({ to: "/login", search: { next: asked.current }, replace: true });
  }, [navigate]);
  return null;
}

/** The frame of every page but the login: navigation, account and clock. */
export function Shell() {
  const me = useQuery(meQuery);
  const clock = useClock();
  const location = useLocation();
  const isBare = isKiosk(useSearch({ strict: false }));
  const [isMenuOpen, menu] = useDisclosure(false);
  const [isHelpOpen, help] = useDisclosure(false);
  const palette = usePalette();
  useHotkeys(HELP_KEYS.map((key) => [key, help.open]));
  useHotkeys(
    PALETTE_KEYS.map((key) => [
      key,
      () => {
        openPalette("all");
      },
    ]),
    [],
    true,
  );

  if (me.error instanceof ApiError && me.error.status === 401) {
    return <RedirectToLogin next={location.href} />;
  }
  return (
    <>
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <header className="shell-header no-print" hidden={isBare}>
        <Link to="/hosts" search={inherited(clock)} className="shell-logo">
          <img src="/icon.svg" alt="" width={22} height={22} />
          <Text fw={650} fz="md">
            normstat
          </Text>
        </Link>
        <Burger hiddenFrom="lg" size="sm" opened={isMenuOpen} onClick={menu.toggle} aria-label="Pages" />
        <nav className="shell-nav" data-open={isMenuOpen} aria-label="Pages">
          {PAGES.map(({ to, label }) => (
            <Link key={to} to={to} search={inherited(clock)} className="shell-link" onClick={menu.close}>
              {label}
            </Link>
          ))}
        </nav>
        <Group gap={6} ml="auto" wrap="nowrap">
          <PaletteButton />
          <ClockSwitch clock={clock} />
          <SchemeSwitch />
          <Tooltip label="Keyboard shortcuts (?)">
            <ActionIcon aria-label="Keyboard shortcuts" onClick={help.open}>
              <IconHelp size={18} />
            </ActionIcon>
          </Tooltip>
          {me.data && <AccountMenu me={me.data} />}
        </Group>
      </header>
      <ShortcutsDialog isOpen={isHelpOpen} onClose={help.close} />
      <main id="content">
        {me.data === undefined ? (
          <div className="page">
            <StateView
              state={me.error ? { kind: "error", error: me.error, onRetry: () => void me.refetch() } : { kind: "loading" }}
            />
          </div>
        ) : (
          <MeContext value={me.data}>
            <PasswordPrompt me={me.data} />
            {palette.scope !== null && (
              <Suspense>
                <Palette scope={palette.scope} run={palette.run} onShortcuts={help.open} />
              </Suspense>
            )}
            <Outlet />
          </MeContext>
        )}
      </main>
    </>
  );
}
