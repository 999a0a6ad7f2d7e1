"""Read-only admin pages of quality control. Every change goes through a service."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from qualcontrol.models import Appeal, Decision, Exclusion, Judgement, Pause, SpotCheck, WorkerRisk

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin  # Only its stubs are generic.


class ReadOnlyAdmin(ModelAdmin):
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, *_: Any) -> bool:
        return False

    def has_change_permission(self, *_: Any, **__: Any) -> bool:
        return False

    def has_delete_permission(self, *_: Any, **__: Any) -> bool:
        return False


@admin.register(SpotCheck)
class SpotCheckAdmin(ReadOnlyAdmin):
    list_display: Any = ["pk", "drawn_at", "verdict", "reason", "judged_at"]
    list_filter = ["verdict"]


@admin.register(Judgement)
class JudgementAdmin(ReadOnlyAdmin):
    list_display: Any = ["pk", "verdict", "reason", "reviewer", "at"]
    list_filter = ["verdict"]
    list_select_related = ["reviewer"]


@admin.register(WorkerRisk)
class WorkerRiskAdmin(ReadOnlyAdmin):
    list_display: Any = ["worker", "campaign", "responses", "good", "bad", "risk", "share"]
    list_filter = ["campaign"]
    list_select_related = ["worker", "campaign"]


@admin.register(Exclusion)
class ExclusionAdmin(ReadOnlyAdmin):
    list_display: Any = ["worker", "campaign", "reason", "excluded_at", "lifted_at"]
    list_filter = ["campaign"]
    list_select_related = ["worker", "campaign"]


@admin.register(Pause)
class PauseAdmin(ReadOnlyAdmin):
    list_display: Any = ["worker", "campaign", "reason", "is_by_policy", "paused_at", "lifted_at"]
    list_filter = ["campaign"]
    list_select_related = ["worker", "campaign"]


@admin.register(Appeal)
class AppealAdmin(ReadOnlyAdmin):
    list_display: Any = ["exclusion", "received_at", "is_granted", "answered_at", "answered_by"]
    list_select_related = ["exclusion__worker", "exclusion__campaign", "answered_by"]


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display: Any = ["at", "act", "campaign", "worker", "reason", "actor"]
    list_filter = ["act", "campaign"]
    list_select_related = ["worker", "campaign", "actor"]
