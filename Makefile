# Two commands are all a newcomer needs: `make run` and `make test`.

.DEFAULT_GOAL := help
.PHONY: help run test lint bench chaos docs

help: ## Show this
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-7s %s\n", $$1, $$2}'

run: ## Start Terrane on this machine, with its embedded database
	@cargo build
	@exec ./target/debug/terrane up

test: ## Install what the tests need, and run them all
	@scripts/test

lint: ## Format, clippy, licences and advisories of dependencies
	@scripts/lint

bench: ## Measure, beside a bare server of the same stack and a bare loop of Terraform
	@cargo build --quiet --release -p terrane -p bench -p cloudsim
	@scripts/with-postgres ./target/release/bench

chaos: ## Kill everything at random while Terraform runs, and look whether anything is lost
	@cargo build --quiet -p terrane -p cloudsim
	@TERRANE_CHAOS_RUNS=$${TERRANE_CHAOS_RUNS:-300} scripts/with-postgres cargo nextest run -p e2e --profile chaos \
		--no-capture --run-ignored all -E 'test(/^chaos/)'

docs: ## Build the book (docs/book) and the API documentation of the crates
	@scripts/docs
