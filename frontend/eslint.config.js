import hooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";
import types from "./eslint.types.js";
import words from "./eslint.words.js";

/** A rule about the tree: what this folder may not name, and what to do instead. */
const arithmetic = [
    { selector: "MemberExpression[object.name='Math']", message: "Arithmetic lives in logic/; call a function of it." },
    {
        selector: "CallExpression[callee.property.name='reduce']",
        message: "Sums and searches live in logic/; call a function of it.",
    },
];
const location = [
    {
        selector: "MemberExpression[object.name='window'][property.name='location']",
        message: "window.location is only for state/url.ts.",
    },
    {
        selector: "MemberExpression[object.name='document'][property.name='location']",
        message: "The address is only for state/url.ts.",
    },
];
const noLocation = [
    { name: "location", message: "The address is only for state/url.ts." },
    { name: "history", message: "Use the router; the address is only for state/url.ts." },
];
const noFetch = [
    { name: "fetch", message: "fetch is only for api/client.ts; write a function in api/endpoints.ts." },
    { name: "XMLHttpRequest", message: "fetch in api/client.ts is the only way to the server." },
];
const noPlotly = { regex: "^plotly\\.js", message: "Plotly is only for plot/.", allowTypeImports: true };

export default defineConfig(
    globalIgnores([
        "dist",
        "eslint.config.js",
        "eslint.types.js",
        "eslint.words.js",
        "test-results",
        "playwright-report",
        "src/api/types.gen.ts",
        "public",
    ]),
    tseslint.configs.strictTypeChecked,
    tseslint.configs.stylisticTypeChecked,
    hooks.configs.flat["recommended-latest"],
    {
        languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
        linterOptions: { reportUnusedDisableDirectives: "error" },
        plugins: { types },
        rules: {
            "types/errors": "error",
            "@typescript-eslint/no-floating-promises": "error",
            "@typescript-eslint/switch-exhaustiveness-check": "error",
            "@typescript-eslint/consistent-type-imports": ["error", { disallowTypeAnnotations: false }],
            "@typescript-eslint/consistent-type-definitions": "off",
            "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
            "max-lines": ["error", { max: 400 }],
            eqeqeq: ["error", "always", { null: "ignore" }],
        },
    },
    {
        files: ["src/**"],
        rules: {
            "no-restricted-globals": ["error", ...noFetch, ...noLocation],
            "no-restricted-syntax": ["error", ...location],
            "no-restricted-imports": ["error", { patterns: [noPlotly] }],
        },
    },
    {
        // Pure: values in, values out.
        files: ["src/logic/**"],
        ignores: ["**/*.test.ts", "src/logic/api.ts"],
        rules: {
            "no-restricted-imports": [
                "error",
                {
                    patterns: [
                        {
                            regex: "^(?!\\./[^/]+$|\\.\\./words$)",
                            message: "logic/ imports only logic/ and words/ (types of the API: logic/api.ts).",
                        },
                    ],
                },
            ],
            "no-restricted-syntax": [
                "error",
                ...location,
                {
                    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
                    message: "logic/ has no clock; take now as an argument.",
                },
                {
                    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
                    message: "logic/ has no clock; take now as an argument.",
                },
            ],
        },
    },
    { files: ["src/api/client.ts"], rules: { "no-restricted-globals": ["error", ...noLocation] } },
    { files: ["src/state/url.ts"], rules: { "no-restricted-globals": ["error", ...noFetch], "no-restricted-syntax": "off" } },
    {
        files: ["src/plot/**"],
        rules: {
            "no-restricted-imports": [
                "error",
                { patterns: [{ regex: "^\\.\\./(?!logic/|words$)", message: "plot/ imports only logic/, words/ and Plotly." }] },
            ],
        },
    },
    {
        files: ["src/state/**", "src/api/**"],
        rules: {
            "no-restricted-imports": [
                "error",
                {
                    patterns: [
                        noPlotly,
                        { regex: "^\\.\\./(pages|components|plot)/", message: "state/ and api/ know nothing of what is shown." },
                    ],
                },
            ],
        },
    },
    { files: ["src/components/**", "src/pages/**"], rules: { "no-restricted-syntax": ["error", ...location, ...arithmetic] } },
    {
        files: ["src/components/**"],
        rules: {
            "no-restricted-imports": [
                "error",
                {
                    patterns: [
                        noPlotly,
                        { regex: "/pages/", message: "components/ are for every page; a page's own parts live in its folder." },
                    ],
                },
            ],
        },
    },
    {
        files: ["src/pages/**"],
        rules: {
            "no-restricted-imports": [
                "error",
                {
                    patterns: [
                        noPlotly,
                        {
                            regex: "^\\.\\./(?!\\.\\./)",
                            message: "Pages do not import from each other; what two need goes to components/ or logic/.",
                        },
                    ],
                },
            ],
        },
    },
    {
        // The page's texts are in words/.
        files: ["src/**"],
        ignores: ["src/words/**", "src/logic/comparison_fixture.ts", "**/*.test.ts"],
        plugins: { words },
        rules: { "words/catalogue": "error" },
    },
    {
        // A catalogue is read in front of all other modules: it must need none of them.
        files: ["src/words/**"],
        ignores: ["**/*.test.ts"],
        rules: {
            "max-lines": "off",
            "no-restricted-imports": [
                "error",
                {
                    patterns: [
                        { regex: "^\\.\\.", message: "words/ imports nothing of the page: a catalogue is loaded before it." },
                    ],
                },
            ],
        },
    },
    { files: ["**/*.test.ts"], rules: { "max-lines": "off", "@typescript-eslint/no-non-null-assertion": "off" } },
);
