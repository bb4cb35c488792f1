import {
  ActionIcon,
  Burger,
  Button,
  Group,
  Menu,
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
import { api, ApiError } from "../api/client";

import { healthQuery, meQuery } from "../api/queries";
import { ROLE_LABELS } from "../logic/account";
import { HELP_KEYS, PALETTE_KEYS } from "../logic/keys";
import type { Me } from "../logic/api";
import { toggleDensity, useDensity } from "../state/density";
import { isKiosk } from "../state/fleet";
import { openPalette, usePalette } from "../state/palette";
import { isFullScreen } from "../state/url";
import { clockOf, encodeClock } from "../state/zone_choice";
import { ClockMenu, NoZoneNote } from "./ClockMenu";
import { MeContext } from "./me";
import { PlacePages, Places } from "./PlaceNav";
import { placeAt, placesOf } from "./places";
import { PaletteButton } from "./palette/PaletteButton";
import { PasswordPrompt } from "./PasswordPrompt";
import { ReadOnlyNotice } from "./ReadOnlyNotice";
import { ShortcutsDialog } from "./ShortcutsDialog";
import { PendingView } from "./StateView";
import { UndoOutlet } from "./UndoOutlet";
import { useOneStop } from "./useOneStop";
import { WatchCountLink } from "./WatchCount";
import { HostZoneContext, useHostZone } from "./zone";
import "./Shell.css";

const loadPalette = () => import("./palette/Palette").then((module) => ({ default: module.Palette }));
const Palette = lazy(loadPalette);
const SecondFactor = lazy(() => import("./SecondFactor").then((module) => ({ default: module.SecondFactor })));

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
  const density = useDensity();
  const leaving = useMutation({
    mutationFn: () => api.POST("/auth/logout"),
    onSettled: (left) => {
      client.clear();
      if (left?.provider_logout_url != null) {
        // Who is still logged in there is logged in here again by one click.
        globalThis.location.assign(left.provider_logout_url);
        return;
      }
      void navigate({ to: "/login", search: {} });
    },
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="subtle" color="gray" className="shell-account" leftSection={<IconUser size={15} />}>
          {me.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{ROLE_LABELS[me.role]}</Menu.Label>
        <Menu.Item
          onClick={() => {
            void navigate({ to: "/accounts", search: {} });
          }}
        >
          Password and tokens
        </Menu.Item>
        <Menu.Item component="a" href="/docs/glossary" target="_blank">
          Glossary
        </Menu.Item>
        <Menu.Item component="a" href="/docs" target="_blank">
          Documentation
        </Menu.Item>
        <Menu.Item onClick={toggleDensity}>{density === "compact" ? "Comfortable rows" : "Compact rows"}</Menu.Item>
        <Menu.Item
          onClick={() => {
            leaving.mutate();
          }}
        >
          Log out
        </Menu.Item>
        <ServerVersion />
      </Menu.Dropdown>
    </Menu>
  );
}

/** The last line of the menu: asked for when it is opened. */
function ServerVersion() {
  const version = useQuery(healthQuery).data;
  return version && <Menu.Label>{`normstat ${version.version} on ${version.storage}`}</Menu.Label>;
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
  const location = useLocation();
  const raw = useSearch({ strict: false });
  const clock = clockOf(raw);
  const hostZone = useHostZone(clock === "host" && me.data !== undefined);
  const isBare = isKiosk(raw) || isFullScreen(raw);
  const [isMenuOpen, menu] = useDisclosure(false);
  const [isHelpOpen, help] = useDisclosure(false);
  const tools = useRef<HTMLDivElement>(null);
  useOneStop(tools);
  const palette = usePalette();
  const places = placesOf(me.data?.is_limited === true);
  const place = placeAt(places, location.pathname);
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
        <Link to="/hosts" search={encodeClock(clock)} className="shell-logo" tabIndex={-1}>
          <img src="/icon.svg" alt="" width={22} height={22} />
          <Text fw={650} fz="md">
            normstat
          </Text>
        </Link>
        <Burger className="shell-burger" size="sm" opened={isMenuOpen} onClick={menu.toggle} aria-label="Pages" />
        {me.data && <WatchCountLink clock={clock} />}
        <Places
          places={places}
          open={place}
          clock={clock}
          hasCount={me.data !== undefined}
          isMenuOpen={isMenuOpen}
          onLeave={menu.close}
        />
        <Group gap={6} ml="auto" wrap="nowrap" ref={tools} role="toolbar" aria-label="Search, display and account">
          <PaletteButton />
          <div className="shell-tools" data-open={isMenuOpen}>
            <ClockMenu clock={clock} />
            <SchemeSwitch />
            <Tooltip label="Keyboard shortcuts (?)">
              <ActionIcon aria-label="Keyboard shortcuts" onClick={help.open}>
                <IconHelp size={18} />
              </ActionIcon>
            </Tooltip>
          </div>
          {me.data && <AccountMenu me={me.data} />}
        </Group>
      </header>
      {place !== null && place.pages.length > 1 && !isBare && <PlacePages place={place} clock={clock} />}
      <ShortcutsDialog isOpen={isHelpOpen} onClose={help.close} />
      <UndoOutlet />
      <main id="content">
        {me.data === undefined ? (
          <div className="page">
            <PendingView query={me} />
          </div>
        ) : (
          <MeContext value={me.data}>
            <ReadOnlyNotice me={me.data} />
            <PasswordPrompt me={me.data} />
            {clock === "host" && <NoZoneNote state={hostZone} />}
            {palette.scope !== null && (
              <Suspense>
                <Palette scope={palette.scope} run={palette.run} onShortcuts={help.open} />
              </Suspense>
            )}
            <HostZoneContext value={clock === "host" ? (hostZone.choice?.zone ?? null) : null}>
              {me.data.must_set_second_factor ? (
                <div className="page page-narrow">
                  <Suspense>
                    <SecondFactor me={me.data} />
                  </Suspense>
                </div>
              ) : (
                <Outlet />
              )}
            </HostZoneContext>
          </MeContext>
        )}
      </main>
    </>
  );
}
