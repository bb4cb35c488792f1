/** The theme: small, dense and calm, with AA contrast in light and dark mode. */

import {
  ActionIcon,
  Anchor,
  Badge,
  Button,
  createTheme,
  localStorageColorSchemeManager,
  Menu,
  Modal,
  Table,
  Tooltip,
} from "@mantine/core";

/** public/first.js uses the same key. */
export const colorSchemeManager = localStorageColorSchemeManager({ key: "normstat-color-scheme" });

export const theme = createTheme({
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  fontSizes: { xs: "11.5px", sm: "13px", md: "14px", lg: "16px", xl: "19px" },
  headings: { fontWeight: "600", sizes: { h1: { fontSize: "19px" }, h2: { fontSize: "16px" }, h3: { fontSize: "14px" } } },
  spacing: { xs: "8px", sm: "10px", md: "14px", lg: "18px", xl: "26px" },
  defaultRadius: "sm",
  primaryColor: "blue",
  primaryShade: { light: 8, dark: 7 },
  cursorType: "pointer",
  colors: {
    blue: ["#eaf3fb", "#d3e5f5", "#a8cbea", "#7ab0de", "#569ad4", "#418dce", "#3486cb", "#2673b4", "#1c66a3", "#095892"],
    dark: ["#d5dbe3", "#b4bdc9", "#97a2b0", "#6b7786", "#3d4856", "#2e3742", "#232a33", "#171c23", "#11151b", "#0b0e13"],
  },
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: "subtle", color: "gray", size: "md" } }),
    Anchor: Anchor.extend({ defaultProps: { underline: "hover" } }),
    Badge: Badge.extend({
      defaultProps: { variant: "light", radius: "sm" },
      styles: { root: { textTransform: "none", minWidth: "max-content" } },
    }),
    Button: Button.extend({ defaultProps: { size: "xs" } }),
    // The placeholder would be a child of the menu that is no item: the first item has the focus instead.
    Menu: Menu.extend({ defaultProps: { shadow: "md", withinPortal: true, withInitialFocusPlaceholder: false } }),
    Modal: Modal.extend({
      defaultProps: {
        centered: false,
        yOffset: "8vh",
        overlayProps: { backgroundOpacity: 0.45 },
        closeButtonProps: { "aria-label": "Close" },
      },
    }),
    Table: Table.extend({
      defaultProps: {
        verticalSpacing: 6,
        horizontalSpacing: "sm",
        highlightOnHover: true,
        highlightOnHoverColor: "var(--row-hover)",
      },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 250, multiline: true, maw: 360 } }),
  },
});
