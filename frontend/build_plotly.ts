/** What the build leaves out of Plotly and of the d3 that it brings: what no graph of ours uses, nearly half of their size. */

import { readFileSync } from "node:fs";
import ts from "typescript";
import type { Plugin } from "vite";

/**
 * Parts of Plotly that no graph of ours uses, by their path in its sources, and what stands in their place. Our figures are static:
 * nothing is dragged, selected, hovered or annotated in them (components/TimeSurface does that), and they have no menus, sliders, images
 * or legends.
 * Plotly looks components up by name and goes without those that are not registered; these stand for the few that it requires.
 */
const NOTHING = "function () {}";
const UNUSED_PARTS: ReadonlyMap<string, string> = new Map([
  ["components/annotations/index.js", component("annotations")],
  ["components/annotations3d/index.js", component("annotations3d")],
  ["components/images/index.js", component("images")],
  ["components/updatemenus/index.js", component("updatemenus")],
  ["components/sliders/index.js", component("sliders")],
  ["components/rangeslider/index.js", component("rangeslider")],
  ["components/rangeselector/index.js", component("rangeselector")],
  ["components/shapes/index.js", component("shapes")],
  ["components/shapes/draw.js", `module.exports = { eraseActiveShape: ${NOTHING} };`],
  ["components/shapes/handle_outline.js", `module.exports = { clearOutline: ${NOTHING}, clearOutlineControllers: ${NOTHING} };`],
  ["components/selections/index.js", component("selections", "clearOutline", "prepSelect", "selectOnClick")],
  [
    "components/modebar/index.js",
    `${component("modebar", "manage")}
    module.exports.supplyLayoutDefaults = function (_, full) { full.modebar = { orientation: "h" }; };`,
  ],
  ["components/legend/index.js", component("legend")],
  ["components/fx/hover.js", `module.exports = { hover: ${NOTHING}, loneHover: ${NOTHING} };`],
  ["components/fx/click.js", `module.exports = ${NOTHING};`],
  ["fonts/ploticon.js", "module.exports = {};"],
  ["plots/cartesian/dragbox.js", "module.exports = {};"],
  ["traces/scatter/hover.js", `module.exports = ${NOTHING};`],
  ["traces/heatmap/hover.js", `module.exports = ${NOTHING};`],
  ["components/errorbars/index.js", component("errorbars")],
  ["components/grid/index.js", component("grid")],
  // Nobody checks figures or makes templates in the page, and no button gives Plotly commands.
  ["plot_api/validate.js", `module.exports = ${NOTHING};`],
  ["plot_api/template_api.js", "module.exports = {};"],
  ["plots/command.js", "module.exports = {};"],
  // A heatmap of ours has its cells; none is counted. Points of several traces never stand beside each other like bars.
  ["traces/histogram2d/calc.js", `module.exports = ${NOTHING};`],
  ["traces/bar/cross_trace_calc.js", `module.exports = { setGroupPositions: ${NOTHING} };`],
]);

/** Return a component that does nothing but these functions. */
function component(name: string, ...functions: readonly string[]): string {
  const members = functions.map((each) => `, ${each}: ${NOTHING}`).join("");
  return `module.exports = { moduleType: "component", name: "${name}"${members} };`;
}

/** What Plotly's parts that are left use of d3; the build fails if one uses more. */
const USED_OF_D3: ReadonlySet<string> = new Set([
  "dispatch",
  "ease",
  "event",
  "extent",
  "locale",
  "max",
  "min",
  "rebind",
  "round",
  "scale",
  "scale.linear",
  "select",
  "selectAll",
  "selection",
  "transition",
]);

/** Families of d3 whose members are used one by one. */
const FAMILIES: ReadonlySet<string> = new Set(["behavior", "geo", "geom", "layout", "scale", "svg", "time"]);

/** Return the names of d3 that a module of Plotly uses: `select`, `scale.linear`. */
export function namesOfD3(code: string): readonly string[] {
  const locals = [...code.matchAll(/(\w+)\s*=\s*require\(["']@plotly\/d3["']\)/g)].map(([, name = ""]) => name);
  const uses = [...locals.map((name) => `\\b${name}`), "require\\([\"']@plotly/d3[\"']\\)"].join("|");
  return [...code.matchAll(new RegExp(`(?:${uses})\\.(\\w+)(?:\\.(\\w+))?`, "g"))].map(([, first = "", second]) =>
    FAMILIES.has(first) && second !== undefined ? `${first}.${second}` : first,
  );
}

/** A statement of d3: the names that it gives a value to (`d3_map`, `d3.scale.linear`), and those that it needs. */
interface Part {
  readonly text: string;
  readonly gives: readonly string[];
  readonly needs: ReadonlySet<string>;
}

/** Return what an expression names: `d3_map`, or of d3 itself `d3.min`, `d3.scale.linear`; null for anything else. */
function nameOf(expression: ts.Expression): string | null {
  if (ts.isIdentifier(expression)) {
    return expression.text;
  }
  if (!ts.isPropertyAccessExpression(expression)) {
    return null;
  }
  const before = nameOf(expression.expression);
  const isMember = before === "d3" || (before !== null && FAMILIES.has(before.replace("d3.", "")));
  return isMember ? `${before}.${expression.name.text}` : before;
}

/** Return the names that `a = b = …` gives a value to. */
function givenBy(expression: ts.Expression | undefined): readonly string[] {
  if (
    expression === undefined ||
    !ts.isBinaryExpression(expression) ||
    expression.operatorToken.kind !== ts.SyntaxKind.EqualsToken
  ) {
    return [];
  }
  const name = nameOf(expression.left);
  return [...(name === null ? [] : [name]), ...givenBy(expression.right)];
}

function neededBy(node: ts.Node): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (each: ts.Node): void => {
    if (ts.isIdentifier(each)) {
      found.add(each.text);
    } else if (ts.isPropertyAccessExpression(each)) {
      const name = nameOf(each);
      if (name !== null) {
        found.add(name);
      }
    }
    ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

function partOf(statement: ts.Statement): Part {
  const text = statement.getText();
  const needs = neededBy(statement);
  if (ts.isFunctionDeclaration(statement)) {
    return { text, gives: [statement.name?.text ?? ""], needs };
  }
  if (ts.isVariableStatement(statement)) {
    const own = statement.declarationList.declarations;
    return { text, gives: own.flatMap(({ name, initializer }) => [name.getText(), ...givenBy(initializer)]), needs };
  }
  return { text, gives: ts.isExpressionStatement(statement) ? givenBy(statement.expression) : [], needs };
}

/**
 * Return d3 with what the used names need, and nothing else: all of it stands in one function, into which no bundler looks. Statements
 * that give no name a value stay, and what they need.
 */
export function trimD3(source: string, used: ReadonlySet<string>): string {
  const file = ts.createSourceFile("d3.js", source, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const findBody = (node: ts.Node): ts.Block | undefined =>
    ts.isFunctionExpression(node) ? node.body : ts.forEachChild(node, findBody);
  const body = findBody(file);
  if (body === undefined) {
    throw new Error("@plotly/d3 is not one function: see trimD3");
  }
  const { statements, pos, end } = body;
  const parts = statements.map(partOf);
  const wanted = new Set(["d3", ...[...used].map((name) => `d3.${name}`)]);
  const kept = new Set<Part>();
  for (let isGrowing = true; isGrowing;) {
    const more = parts.filter(
      (part) => !kept.has(part) && (part.gives.length === 0 || part.gives.some((name) => wanted.has(name))),
    );
    isGrowing = more.length > 0;
    for (const part of more) {
      kept.add(part);
      for (const name of part.needs) {
        wanted.add(name);
      }
    }
  }
  const trimmed = parts.filter((part) => kept.has(part)).map(({ text }) => text);
  return `${source.slice(0, pos)}{\n${trimmed.join("\n")}\n}${source.slice(end)}`;
}

/** What Plotly uses of its colour library, with the notations of our figures: `#rrggbb`, `rgb()` and `hsl()`. All of it is 64 kB. */
const COLOURS = `
  import { modeHsl, modeLrgb, modeRgb, useMode } from "culori/fn";
  useMode(modeRgb);
  useMode(modeHsl);
  useMode(modeLrgb);
  export { converter, formatHex, formatRgb, wcagContrast, wcagLuminance } from "culori/fn";
`;

/** Leaves out what no graph of ours uses of Plotly, and the styles of maps that its registry names: a third of its size. */
export function trimPlotly(): Plugin {
  const empty = "\0normstat-no-styles.js";
  const colours = "\0normstat-colours.js";
  return {
    name: "normstat-trim-plotly",
    apply: "build",
    enforce: "pre",
    resolveId(id) {
      if (id === "culori") {
        return colours;
      }
      return id.endsWith("maplibre-gl.css") ? empty : null;
    },
    load(id) {
      if (id === colours) {
        return COLOURS;
      }
      if (id === empty) {
        return "export default {};";
      }
      const path = id.replaceAll("\\", "/");
      if (path.endsWith("/@plotly/d3/d3.js")) {
        return trimD3(readFileSync(path, "utf8"), USED_OF_D3);
      }
      // Every browser that the page is built for has promises.
      if (path.endsWith("/native-promise-only/lib/npo.src.js")) {
        return "";
      }
      const [, part = ""] = /\/plotly\.js\/src\/(.+)$/.exec(path) ?? [];
      return UNUSED_PARTS.get(part) ?? null;
    },
    transform(code, id) {
      if (id.includes("/plotly.js/src/") && code.includes("@plotly/d3")) {
        const missing = namesOfD3(code).filter((name) => !USED_OF_D3.has(name));
        if (missing.length > 0) {
          throw new Error(`${id} uses ${missing.join(", ")} of d3: add it to USED_OF_D3`);
        }
      }
      return null;
    },
  };
}
