/**
 * Two rules about the folders of src/: tree/imports forbids modules, tree/syntax forbids code. The options of each folder are in
 * oxlint.config.js. Oxlint's own no-restricted-imports knows no look-ahead, which "imports only these" needs; it has no no-restricted-syntax.
 */

/** Options: { regex, message, allowTypeImports }, each for modules that must not be imported. */
const imports = {
    meta: { type: "problem", schema: false },
    create(context) {
        const restrictions = context.options.map((option) => ({ ...option, regex: new RegExp(option.regex, "u") }));
        const check = (node) => {
            if (node.source?.type !== "Literal") {
                return;
            }
            const isType = node.importKind === "type" || node.exportKind === "type";
            for (const { regex, message, allowTypeImports = false } of restrictions) {
                if (regex.test(node.source.value) && !(isType && allowTypeImports)) {
                    context.report({ node, message });
                }
            }
        };
        return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check };
    },
};

/** Options: { selector, message }, each for syntax that must not be used. */
const syntax = {
    meta: { type: "problem", schema: false },
    create(context) {
        return Object.fromEntries(
            context.options.map(({ selector, message }) => [selector, (node) => context.report({ node, message })]),
        );
    },
};

export default { meta: { name: "tree" }, rules: { imports, syntax } };
