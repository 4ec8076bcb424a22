"""The compiled grammar of questions, and meaningful words that none of its rules contains."""

from __future__ import annotations

from potluck.apps.journal.assistant.chart import Grammar
from potluck.apps.journal.assistant.filter_phrases import FILTER_PHRASES
from potluck.apps.journal.assistant.meanings import MEANINGS
from potluck.apps.journal.assistant.phrases import PHRASES
from potluck.apps.journal.assistant.wording import vocabulary

GRAMMAR = Grammar(f"{PHRASES}{FILTER_PHRASES}", MEANINGS)
# Words that are never the topic of a question.
UNKNOWN = vocabulary(
    """not no never none without except but because why if unless while until till before after since between than
    same other others another every only both either neither nor too enough will would should shall must might may
    next tomorrow future later earlier ago early late previous old new median ratio rate ranking rank bottom
    double several few couple some during almost nearly around roughly about within out down miss missed skip
    skipped cancelled canceled instead kind type cost eat ate improvement plan planned want predict expect stop
    stopped stopping quit keep keeps kept start started good bad great begin began still again always sometimes
    mostly mainly people person partners opponents name year years month months week weeks half quarter weekday
    weekend yesterday today tonight night thing things something anything everything nothing stuff someone anyone
    somebody anybody lot lots bit maybe perhaps quite rather simply even once thrice how who whom whose where
    whether come much many often can cannot did don doesn isn better which what when progress improve improved
    improving consistent consistently regular regularly random hour hours minute minutes reason reasons"""
)
