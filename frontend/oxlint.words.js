/**
 * The rule words/catalogue: texts of the page are in src/words, not beside the code that shows them. It finds words in JSX, in attributes and
 * properties that are shown, and strings of two words or more anywhere. What is no text (a name, a unit, a command) passes.
 */

const SHOWN = new Set([
    "action",
    "alt",
    "aria-description",
    "aria-label",
    "aria-roledescription",
    "aria-valuetext",
    "caption",
    "closeButtonLabel",
    "description",
    "heading",
    "help",
    "hint",
    "label",
    "legend",
    "message",
    "next",
    "nothingFoundMessage",
    "placeholder",
    "text",
    "title",
    "tooltip",
    "what",
]);
/** Elements whose content is typed or printed by a machine. */
const VERBATIM = new Set(["code", "kbd", "pre", "Code", "Kbd"]);
/** Attributes and properties that hold names or styles. */
const NAMES = new Set([
    "className",
    "classNames",
    "style",
    "styles",
    "d",
    "transform",
    "gridTemplateColumns",
    "fontFamily",
    "fontFamilyMonospace",
    "queryKey",
    "mutationKey",
    "key",
    "rel",
    "accept",
    "autoComplete",
    "aria-keyshortcuts",
    "preserveAspectRatio",
    "textposition",
    "viewBox",
]);
/** Calls that look for a text of the server, or take one apart. */
const READERS = new Set([
    "startsWith",
    "endsWith",
    "includes",
    "indexOf",
    "replace",
    "replaceAll",
    "split",
    "test",
    "querySelector",
]);
const WORD = /\p{L}{2,}/u;
const TWO_WORDS = /\p{L}{2,}[,;:.!?…)”]* +[(“]?\p{L}{2,}/u;
/** Paths, names with a dash or an underscore, units, styles, markup. */
const CODE = /^[/.#]|^<[a-z]|^\S+[-_/.:=]\S*$|^[A-Z0-9]{2,}s?$|^normstat$|^(?:[kMGTP]i?)?B(?:\/s)?$|var\(--|calc\(|rgba?\(/;

/** Return the text of a literal with a gap for each expression; null for other nodes. */
function textOf(node) {
    if (node.type === "Literal") {
        return typeof node.value === "string" ? node.value : null;
    }
    return node.type === "TemplateLiteral" ? node.quasis.map((each) => each.value.cooked).join("\u0000") : null;
}

/** Return the attribute or property that an expression is the value of, with what it is chosen by left out. */
function placeOf(node) {
    let at = node;
    for (;;) {
        const parent = at.parent;
        switch (parent.type) {
            case "ConditionalExpression":
                if (parent.test === at) {
                    return { kind: "code" };
                }
                break;
            case "LogicalExpression":
            case "JSXExpressionContainer":
            case "TSAsExpression":
            case "TSSatisfiesExpression":
                break;
            case "JSXAttribute":
                return { kind: "named", name: parent.name.name };
            case "Property":
                return parent.value === at ? { kind: "named", name: parent.key.name ?? parent.key.value } : { kind: "code" };
            case "JSXElement":
            case "JSXFragment":
                return { kind: "shown" };
            case "BinaryExpression":
                return parent.operator === "+" ? { kind: "other" } : { kind: "code" };
            case "ImportDeclaration":
            case "ExportNamedDeclaration":
            case "ExportAllDeclaration":
            case "ImportExpression":
            case "TSLiteralType":
            case "SwitchCase":
            case "MemberExpression":
            case "ExpressionStatement":
                return { kind: "code" };
            case "NewExpression":
                // What is thrown tells a developer what is wrong with the code.
                return { kind: parent.callee.name === "Error" && parent.parent.type === "ThrowStatement" ? "code" : "other" };
            case "CallExpression":
                return { kind: READERS.has(parent.callee.property?.name) ? "code" : "other" };
            case "VariableDeclarator":
                return { kind: /font/i.test(parent.id.name ?? "") ? "code" : "other" };
            default:
                return { kind: "other" };
        }
        at = parent;
    }
}

/** Return whether an expression is inside one of these attributes or properties. */
function isInside(node, names) {
    for (let at = node.parent; at; at = at.parent) {
        if (
            (at.type === "JSXAttribute" && names.has(at.name.name)) ||
            (at.type === "Property" && names.has(at.key.name ?? at.key.value))
        ) {
            return true;
        }
        if (at.type === "JSXElement" || /Function/.test(at.type)) {
            return false;
        }
    }
    return false;
}

const catalogue = {
    meta: {
        type: "problem",
        docs: { description: "texts of the page are in src/words" },
        messages: { text: "Move “{{text}}” to src/words/en.ts (and de.ts), and use words.… here." },
        schema: [],
    },
    create(context) {
        const report = (node, text) => {
            context.report({ node, messageId: "text", data: { text: text.replaceAll("\u0000", "…").trim().slice(0, 40) } });
        };
        const look = (node) => {
            const text = textOf(node);
            if (text === null || !WORD.test(text) || node.parent.type === "TaggedTemplateExpression") {
                return;
            }
            const place = placeOf(node);
            if (place.kind === "code" || (place.kind === "named" && NAMES.has(place.name)) || isInside(node, NAMES)) {
                return;
            }
            const isShown = place.kind === "shown" || (place.kind === "named" && SHOWN.has(place.name));
            if (isShown ? !CODE.test(text.replaceAll("\u0000", "")) : TWO_WORDS.test(text) && !CODE.test(text)) {
                report(node, text);
            }
        };
        return {
            JSXText(node) {
                const text = node.value.trim();
                const parent = node.parent.openingElement?.name.name;
                if (WORD.test(text) && !CODE.test(text) && !VERBATIM.has(parent)) {
                    report(node, text);
                }
            },
            Literal: look,
            TemplateLiteral: look,
        };
    },
};

export default { meta: { name: "words" }, rules: { catalogue } };
