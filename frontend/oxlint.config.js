/** Rules that are on without options. */
const eslint = `
    no-array-constructor no-empty-function no-unused-expressions no-useless-constructor no-var prefer-const prefer-rest-params prefer-spread`;
const react = `
    error-boundaries exhaustive-deps globals immutability incompatible-library preserve-manual-memoization purity refs rules-of-hooks
    set-state-in-effect set-state-in-render static-components unsupported-syntax use-memo void-use-memo`;
const typescript = `
    adjacent-overload-signatures array-type await-thenable ban-tslint-comment class-literal-property-style consistent-generic-constructors
    consistent-indexed-object-style consistent-type-assertions dot-notation no-array-delete no-base-to-string
    no-confusing-non-null-assertion no-confusing-void-expression no-deprecated no-duplicate-enum-values no-duplicate-type-constituents
    no-dynamic-delete no-empty-object-type no-explicit-any no-extra-non-null-assertion no-extraneous-class no-floating-promises
    no-for-in-array no-generated-empty-object-type no-implied-eval no-inferrable-types no-invalid-void-type no-meaningless-void-operator
    no-misused-new no-misused-promises no-misused-spread no-mixed-enums no-namespace no-non-null-asserted-nullish-coalescing
    no-non-null-asserted-optional-chain no-non-null-assertion no-redundant-type-constituents no-require-imports no-this-alias
    no-unnecessary-boolean-literal-compare no-unnecessary-condition no-unnecessary-template-expression no-unnecessary-type-arguments
    no-unnecessary-type-assertion no-unnecessary-type-constraint no-unnecessary-type-conversion no-unnecessary-type-parameters
    no-unsafe-argument no-unsafe-assignment no-unsafe-call no-unsafe-declaration-merging no-unsafe-enum-assignment
    no-unsafe-enum-comparison no-unsafe-function-type no-unsafe-member-access no-unsafe-return no-unsafe-unary-minus
    no-useless-default-assignment no-wrapper-object-types non-nullable-type-assertion-style only-throw-error prefer-as-const prefer-find
    prefer-for-of prefer-function-type prefer-includes prefer-literal-enum-member prefer-namespace-keyword prefer-nullish-coalescing
    prefer-optional-chain prefer-promise-reject-errors prefer-reduce-type-parameter prefer-regexp-exec prefer-return-this-type
    prefer-string-starts-ends-with related-getter-setter-pairs require-await switch-exhaustiveness-check triple-slash-reference
    unbound-method unified-signatures use-unknown-in-catch-callback-variable`;

function errors(plugin, names) {
    return Object.fromEntries(
        names
            .trim()
            .split(/\s+/)
            .map((name) => [plugin + name, "error"]),
    );
}

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
    { name: "fetch", message: "fetch is only for api/client.ts; call its api." },
    { name: "XMLHttpRequest", message: "api of api/client.ts is the only way to the server." },
];
const noPlotly = { regex: "^plotly\\.js", message: "Plotly is only for plot/.", allowTypeImports: true };
const tests = ["**/*.test.ts", "**/*.test.tsx"];

export default {
    plugins: ["typescript", "react"],
    jsPlugins: ["./oxlint.tree.js"],
    categories: { correctness: "off" },
    options: { typeAware: true, typeCheck: true, reportUnusedDisableDirectives: "error" },
    ignorePatterns: ["node_modules", "dist", "oxlint.*.js", "test-results", "playwright-report", "public"],
    rules: {
        ...errors("", eslint),
        ...errors("react/", react),
        ...errors("typescript/", typescript),
        eqeqeq: ["error", "always", { null: "ignore" }],
        "max-lines": ["error", { max: 400 }],
        "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
        "typescript/ban-ts-comment": ["error", { minimumDescriptionLength: 10 }],
        "typescript/consistent-type-imports": ["error", { disallowTypeAnnotations: false }],
        "typescript/restrict-plus-operands": [
            "error",
            { allowAny: false, allowBoolean: false, allowNullish: false, allowNumberAndString: false, allowRegExp: false },
        ],
        "typescript/restrict-template-expressions": [
            "error",
            {
                allowAny: false,
                allowBoolean: false,
                allowNever: false,
                allowNullish: false,
                allowNumber: false,
                allowRegExp: false,
            },
        ],
        "typescript/return-await": ["error", "error-handling-correctness-only"],
    },
    overrides: [
        {
            files: ["src/**"],
            rules: {
                "no-restricted-globals": ["error", ...noFetch, ...noLocation],
                "tree/syntax": ["error", ...location],
                "tree/imports": ["error", noPlotly],
            },
        },
        {
            // Pure: values in, values out.
            files: ["src/logic/**"],
            excludeFiles: [...tests, "src/logic/api.ts"],
            rules: {
                "tree/imports": [
                    "error",
                    { regex: "^(?!\\./[^/]+$)", message: "logic/ imports only logic/ (types of the API: logic/api.ts)." },
                ],
                "tree/syntax": [
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
        { files: ["src/state/url.ts"], rules: { "no-restricted-globals": ["error", ...noFetch], "tree/syntax": "off" } },
        {
            files: ["src/plot/**"],
            rules: {
                "tree/imports": ["error", { regex: "^\\.\\./(?!logic/)", message: "plot/ imports only logic/ and Plotly." }],
            },
        },
        {
            files: ["src/state/**", "src/api/**"],
            rules: {
                "tree/imports": [
                    "error",
                    noPlotly,
                    { regex: "^\\.\\./(pages|components|plot)/", message: "state/ and api/ know nothing of what is shown." },
                ],
            },
        },
        { files: ["src/components/**", "src/pages/**"], rules: { "tree/syntax": ["error", ...location, ...arithmetic] } },
        {
            files: ["src/components/**"],
            rules: {
                "tree/imports": [
                    "error",
                    noPlotly,
                    { regex: "/pages/", message: "components/ are for every page; a page's own parts live in its folder." },
                ],
            },
        },
        {
            files: ["src/pages/**"],
            rules: {
                "tree/imports": [
                    "error",
                    noPlotly,
                    {
                        regex: "^\\.\\./(?!\\.\\./)",
                        message: "Pages do not import from each other; what two need goes to components/ or logic/.",
                    },
                ],
            },
        },
        { files: ["src/api/types.gen.ts"], rules: { "max-lines": "off", "typescript/consistent-indexed-object-style": "off" } },
        { files: tests, rules: { "max-lines": "off", "typescript/no-non-null-assertion": "off" } },
        {
            // Tests of components set and read the address as a person does, and may use any part of the page.
            files: ["src/testing/**", "**/*.test.tsx"],
            rules: { "no-restricted-globals": "off", "tree/syntax": "off", "tree/imports": "off" },
        },
    ],
};
