"""Search on validation, over processes and restarts, and winners that ship (`gwn tune`)."""

from gwn.tuning.plan import Plan, Search, plan_search
from gwn.tuning.spaces import SPACES, choose_space
from gwn.tuning.winner import best_trial, measure, search_summary, settings_file, write_winner
from gwn.tuning.workers import SearchJob, run_search

__all__ = [
    "SPACES",
    "Plan",
    "Search",
    "SearchJob",
    "best_trial",
    "choose_space",
    "measure",
    "plan_search",
    "run_search",
    "search_summary",
    "settings_file",
    "write_winner",
]
