# normstat: everything a person or CI does is a target here. `make help` lists them.

SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
PORT ?= 8080
HOST ?= 127.0.0.1
DATA ?= data
SPOOL ?= $(DATA)/spool
# Where wheel, packages and chart are put.
BUILD_DIR ?= build
# Caches that outlive a `make clean`: the Debian root with TimescaleDB for the tests.
export NORMSTAT_CACHE ?= $(CURDIR)/.cache
# Tests start hundreds of commands and servers of ours: each would compile all modules again where this is set.
export PYTHONDONTWRITEBYTECODE =

VENV := .venv
BIN := $(VENV)/bin
# The Node that the virtual environment carries, where the machine has none that is new enough (setup/node.sh puts it there).
NPM := env PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix frontend --no-audit --no-fund --loglevel=error

# How many stages of `make test` run at once: one that computes with two workers, and two that mostly wait.
JOBS ?= 3
# Stages that compute let those that wait go first, so that no server answers late because of them. A little only: beside a process
# that takes what it gets they would hardly run.
YIELD := nice -n 3
# Notes what a step costs, for the table at the end of `make test`.
STAGE := sh $(CURDIR)/backend/setup/stage.sh

.PHONY: help setup setup-dev page run demo serve run-agent dev check check-backend check-page fmt test test-all test-deps test-stages test-databases \
	agent agent-packages server-packages server-deb server-rpm agent-deb agent-rpm agent-tar agent-root chart wheel release test-fast test-changed test-attack test-backend test-agent test-schema test-up test-page test-e2e screenshot golden gen lock bench bench-compare bench-compare-page bench-page man outdated clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- setting up: files as stamps, so that a second call costs nothing ---

$(VENV)/.made: backend/setup/venv.sh
	@$(STAGE) environment sh backend/setup/venv.sh "$(PYTHON)" $(VENV)
	@touch $@

# Before the other packages: one pip at a time.
$(VENV)/.node: $(VENV)/.made backend/setup/node.sh backend/requirements-node.lock
	@sh backend/setup/node.sh $(VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.node backend/requirements.lock backend/pyproject.toml
	@echo "installing the server's Python packages ..."
	@sh backend/setup/packages.sh $(VENV) backend/requirements.lock
	@sh backend/setup/package.sh $(VENV)
	@touch $@

# These are the server's packages and more: one installation does for both.
$(VENV)/.dev: $(VENV)/.node backend/requirements.lock backend/requirements-dev.lock backend/pyproject.toml
	@echo "installing the Python packages of the server and of the tests ..."
	@$(STAGE) python-packages sh backend/setup/packages.sh $(VENV) backend/requirements-dev.lock
	@sh backend/setup/package.sh $(VENV)
	@touch $(VENV)/.run $@

frontend/node_modules/.made: $(VENV)/.node frontend/package-lock.json
	@echo "installing the page's packages ..."
	@$(STAGE) page-packages $(NPM) ci > $(VENV)/npm.log 2>&1 || { cat $(VENV)/npm.log; exit 1; }
	@touch $@

# The client of another implementation that asks `/mcp` in the tests.
MCP_CLIENT := backend/tests/e2e/mcp_client
$(MCP_CLIENT)/node_modules/.made: $(VENV)/.node $(MCP_CLIENT)/package-lock.json
	@$(STAGE) mcp-client env PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix $(MCP_CLIENT) --no-audit --no-fund --loglevel=error ci > $(VENV)/npm-mcp.log 2>&1 \
		|| { cat $(VENV)/npm-mcp.log; exit 1; }
	@touch $@

PAGE_SOURCES := $(shell find frontend/src frontend/public frontend/index.html frontend/*.ts frontend/tsconfig*.json -type f 2>/dev/null)

frontend/dist/index.html: frontend/node_modules/.made $(PAGE_SOURCES)
	@echo "building the page ..."
	@$(STAGE) page-build $(NPM) run --silent build -- --logLevel warn
	@touch $@

setup: $(VENV)/.run frontend/dist/index.html ## install what running needs, build the page

setup-dev: $(VENV)/.dev frontend/node_modules/.made ## install what the tests need too

page: frontend/dist/index.html ## build the page

# --- running ---

run: setup ## run everything here: database, server, agent, page (PORT=8080 DATA=data HOST=127.0.0.1 WORKERS=1)
	@exec $(BIN)/normstat up --host "$(HOST)" --port "$(PORT)" --data "$(DATA)" $(if $(WORKERS),--workers "$(WORKERS)")

serve: ## migrate and serve, after `make setup` and with DATABASE_URL set (what the image runs)
	@$(BIN)/normstat migrate
	@exec $(BIN)/normstat serve --host "$(HOST)" --port "$(PORT)" $(if $(WORKERS),--workers "$(WORKERS)")

demo: setup ## a day of three hosts with two incidents, read-only (PORT=8080 HOST=127.0.0.1)
	@exec $(BIN)/normstat demo --host "$(HOST)" --port "$(PORT)"

run-agent: ## an agent for this host: SERVER=URL TOKEN_FILE=FILE [SPOOL=DIR] [AGENT_HOST=NAME]
	@exec sh agents/normstat-agent run --server "$(SERVER)" --token-file "$(TOKEN_FILE)" --spool "$(SPOOL)" \
		--stats agents/stats.conf.linux $(if $(AGENT_HOST),--host "$(AGENT_HOST)")

wheel: page $(VENV)/.run ## build/normstat-VERSION-py3-none-any.whl with the page, the migrations and the agent inside
	@$(BIN)/python backend/setup/build_wheel.py "$(BUILD_DIR)"

server-packages: server-deb server-rpm ## build the server's .deb and .rpm into build/ (needs dpkg-deb and rpmbuild; PYTHON_VERSION=3.13 for Debian 13)

server-deb server-rpm: server-%: wheel
	@PIP_PYTHON="$(CURDIR)/$(BIN)/python" PYTHON_VERSION="$(PYTHON_VERSION)" sh packaging/build.sh $* "$(BUILD_DIR)" "$(BUILD_DIR)"/normstat-*.whl

agent: ## put the agent together from its parts in agents/src
	@sh agents/build.sh > agents/normstat-agent.new
	@chmod 755 agents/normstat-agent.new
	@mv agents/normstat-agent.new agents/normstat-agent

agent-packages: agent-deb agent-rpm agent-tar ## build the agent's .deb, .rpm and archive into build/ (needs dpkg-deb and rpmbuild; no root)

agent-root: ## build/agent-root: the agent as its image has it
	@install -d build/agent-root/opt/normstat
	@install -m 755 agents/normstat-agent build/agent-root/opt/normstat/normstat-agent
	@install -m 644 agents/stats.conf.linux build/agent-root/opt/normstat/stats.conf

agent-deb agent-rpm agent-tar: agent-%:
	@sh agents/package/build.sh $* "$(BUILD_DIR)"

# The real helm, from the machine or built by Go (some minutes, once), and the schemas of Kubernetes.
CHART_TOOLS := $(NORMSTAT_CACHE)/chart

$(CHART_TOOLS)/.made: backend/setup/chart_tools.sh backend/requirements-chart.lock $(VENV)/.dev
	@sh backend/setup/chart_tools.sh $(VENV) "$(CHART_TOOLS)"
	@touch $@

chart: $(CHART_TOOLS)/.made ## check, render and package the Helm chart into build/ (with helm, or Go to build it)
	@PYTHONPATH="$(CHART_TOOLS)/python" $(BIN)/python backend/setup/build_chart.py "$(CHART_TOOLS)/helm" "$(BUILD_DIR)"

release: $(VENV)/.dev frontend/node_modules/.made $(CHART_TOOLS)/.made ## all that is published, with sums, into build/release (SIGN=KEY, SNAPSHOT=1: CONTRIBUTING.md)
	@env PATH="$(CURDIR)/$(BIN):$$PATH" MAKE="$(MAKE)" SIGN="$(SIGN)" SNAPSHOT="$(SNAPSHOT)" sh packaging/release.sh "$(CURDIR)/$(BIN)" build/release

dev: setup-dev ## the page with hot reload, against a server started by `make run`
	@NORMSTAT_SERVER="http://127.0.0.1:$(PORT)" $(NPM) run dev

# --- checking ---

check: EXAMPLES = thorough
check: check-backend check-page ## linters, types, import rules, shell

check-backend: $(VENV)/.dev
	@$(STAGE) $@ sh backend/setup/check.sh "$(CURDIR)/$(BIN)" $(if $(filter push,$(EXAMPLES)),normstat)
	@echo "checks of the backend and the agent passed"

check-page: frontend/node_modules/.made
	@$(YIELD) $(STAGE) $@ $(NPM) run --silent check
	@echo "checks of the page passed"

fmt: setup-dev ## format the code
	@cd backend && ../$(BIN)/ruff format . && ../$(BIN)/ruff check --fix .
	@$(NPM) run --silent fmt

# What a push needs. `make test-all` selects everything (CONTRIBUTING.md).
MARKS := not matrix and not heavy
EXAMPLES := push

# What a stage prints comes in one piece when it ends. A failure lets the others end, starts no more,
# is the exit status, and is named again at the end. Time limits are there to catch tests that hang: on a slow machine, beside the
# other stages, one may need three times its usual time.
test: test-deps ## the tests before a push; installs what it needs where it may
	@NORMSTAT_TEST_PATIENCE=$${NORMSTAT_TEST_PATIENCE:-3} sh backend/setup/report.sh "$(NORMSTAT_CACHE)/test.log" \
		$(MAKE) -j$(JOBS) $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) test-stages
	@echo "all tests passed"

test-all: ## the whole matrix: both databases, all shells, packages, several servers, attacks; more than an hour
	@NORMSTAT_TEST_PATIENCE=6 $(MAKE) test MARKS="not heavy" EXAMPLES=thorough
	@$(MAKE) test-attack

# The longest first.
test-stages: test-databases page test-backend test-e2e test-agent test-schema check-backend check-page test-up test-page

# What takes longest begins first, when the databases and the page are there: a stage that began before would have its place, and
# the tests of the backend would run alone in the end.
ifdef NORMSTAT_STAGES
test-agent test-schema check-backend check-page test-up test-page: | page test-databases
endif

test-deps: ## install system packages of the tests (as root on Debian), say what is missing otherwise
	@sh backend/setup/system.sh

# Made while packages are installed. Where it cannot be had, the tests that need it say so.
test-databases: $(VENV)/.made
	@cd backend && $(STAGE) databases ../$(BIN)/python -m tests.debian_root

# Without the plugin of one stage, which every worker of the others would import.
PYTEST := ../$(BIN)/pytest -p no:schemathesis -m "$(MARKS)" --hypothesis-profile=$(EXAMPLES) --dist worksteal

# None of its tests needs the built page. One worker more than cores: some tests wait for servers.
test-backend: $(VENV)/.dev test-databases
	@cd backend && $(YIELD) $(STAGE) $@ $(PYTEST) -n $$(($$(nproc) + 1)) --ignore tests/agent --ignore tests/e2e $(SCHEMA_TESTS:%=--ignore %) $(AGENT_ATTACKS:%=--ignore %)

# Attacks on the agent wait for it.
AGENT_ATTACKS := tests/attack/test_rogue_server.py tests/attack/test_local_users.py

# These mostly wait: more workers than cores.
test-agent: $(VENV)/.dev
	@cd backend && $(STAGE) $@ $(PYTEST) -n $$(($$(nproc) * 2)) tests/agent $(AGENT_ATTACKS)

# Requests that are made from the OpenAPI document. To make them takes long, and each worker would do it for itself.
SCHEMA_TESTS := tests/api/test_schema.py

test-schema: $(VENV)/.dev test-databases
	@cd backend && $(YIELD) $(STAGE) $@ ../$(BIN)/pytest --hypothesis-profile=$(EXAMPLES) $(SCHEMA_TESTS)

test-up: setup-dev page test-databases $(MCP_CLIENT)/node_modules/.made
	@cd backend && $(STAGE) $@ $(PYTEST) -n $$(nproc) tests/e2e

test-page: frontend/node_modules/.made
	@$(YIELD) $(STAGE) $@ $(NPM) test --silent -- --reporter=dot

test-e2e: setup-dev page
	@cd backend && NORMSTAT_BROWSER_TESTS=$(EXAMPLES) $(STAGE) $@ ../$(BIN)/python -m tests.e2e.page

screenshot: setup-dev page ## make the pictures of docs/ again, from the demo
	@cd backend && ../$(BIN)/python -m tests.e2e.pictures

test-fast: setup-dev ## the tests after an edit: no database, no process, no browser; within a minute
	@cd backend && $(PYTEST) -n $$(nproc) -m "not database and not slow and not matrix and not heavy" \
		--ignore tests/agent --ignore tests/e2e $(SCHEMA_TESTS:%=--ignore %)
	@$(NPM) test --silent -- --reporter=dot

test-changed: setup-dev ## the tests of what differs from main: BASE=REVISION for another one
	@cd backend && ../$(BIN)/python -m tests.changed "$(or $(BASE),main)" $(PYTEST) -n $$(nproc)

test-attack: setup-dev page test-databases ## attacks and faults, the heavy ones too (make test runs the quick ones)
	@cd backend && $(PYTEST) -m "" tests/attack

golden: setup-dev ## rewrite the expected files of the captures and show the difference
	@cd backend && ../$(BIN)/python -m tests.golden_update

gen: setup-dev ## rewrite what is derived: docs/stats.md, openapi.json, the page's types
	@$(BIN)/normstat gen
	@$(BIN)/normstat openapi > frontend/openapi.json
	@$(NPM) run --silent gen
	@$(BIN)/python backend/client/generate_models.py

man: setup-dev ## write the manual pages of the commands and of the agent to build/man
	@$(BIN)/python backend/setup/man_pages.py build/man
	@sh agents/package/manual.sh agents/normstat-agent > build/man/normstat-agent.1

outdated: setup-dev ## list what is behind its newest release: packages of Python and of the page; and the pinned images
	@$(BIN)/pip list --outdated --disable-pip-version-check
	@$(NPM) outdated || :
	@grep -n -E '^ *(image: .*[:/]|ARG .*=.*:)' docker-compose.yml Dockerfile

lock: setup-dev ## pin the Python packages again (UPGRADE=1: at their newest)
	@UPGRADE="$(UPGRADE)" sh backend/setup/lock.sh $(VENV)

bench: setup-dev ## all benchmarks; one: make bench-reader
	@cd backend && ../$(BIN)/python -m bench

bench-compare: setup-dev ## how often a comparison finds the culprit, beside other methods (BENCH_ARGS="--seeds 0:3")
	@cd backend && $(YIELD) ../$(BIN)/python -m bench.compare_measure $(BENCH_ARGS)

bench-page: setup-dev page ## how fast a host's page opens and moves, in a browser (BENCH_ARGS="--before CHECKOUT")
	@cd backend && ../$(BIN)/python -m bench.bench_page $(BENCH_ARGS)

bench-compare-page: setup-dev page ## how long a comparison's page takes on a running server: LINK=LOGIN_LINK QUERY='host=...'
	@env PATH="$(CURDIR)/$(BIN):$$PATH" node backend/bench/compare_page.mjs "$(LINK)" "$(QUERY)"

bench-%: setup-dev
	@cd backend && ../$(BIN)/python -m bench.bench_$* $(BENCH_ARGS)

clean: ## remove what was built; the data folder and caches stay
	rm -rf $(VENV) frontend/node_modules frontend/dist backend/*.egg-info backend/.pytest_cache backend/.mypy_cache backend/.ruff_cache
