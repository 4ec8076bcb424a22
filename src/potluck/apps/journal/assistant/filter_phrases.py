"""The grammar of numbers, filters, periods relative to a session, and comments.

Each line is a category, what it means, and the ways to say it; `chart.py` explains the notation.
"""

FILTER_PHRASES = """
Compared @at_least: At_least Number | Number Or_more
Compared_length @at_least: At_least Length | Length Or_more
Compared @at_most: At_most Number | Number Or_less
Compared_length @at_most: At_most Length | Length Or_less
Compared @more: More_than Number
Compared_length @more: More_than Length
Compared @less: Less_than Number
Compared_length @less: Less_than Length
Compared @exactly: exactly/precisely? Number
Compared_length @exactly: exactly/precisely? Length
Compared @between: between Number and Number | from Number to Number | Number to Number | Number - Number | Number –
    Number
Compared_length @between: between Length and Length | from Length to Length | Length to Length | Length - Length |
    Length – Length
At_least: at least | a? minimum of? | no less/fewer than | not less/fewer than | > = | minimum
At_most: at most | no more than | not more than | a? maximum of? | up to | < = | max
More_than: more than | over | above | longer than | greater than | higher than | harder than | exceeding | > | beyond
    | upwards of | in excess of | past
Less_than: less than | under | below | shorter than | lower than | fewer than | easier than | <
Or_more: + | plus | ,? or/and more/higher/above/over/longer/greater/harder/up/upwards/better/upward | and up
Or_less: ,? or/and less/lower/fewer/below/under/shorter/easier
Compared @neighbours: Number or Number
Top level @level: Number Or_more
Length @hours: Number Hours | Number - Hours
Length: Number Minutes | Number - Minutes
Length @hours_and_minutes: Number Hours and? Number Minutes?
Length =60: an/a/one hour | the hour
Length =30: half an hour | half hour | half - hour
Length =90: an/one/1 hour and a half | one/an and a half hours | ninety minutes
Length @hours_and_half: Number and a half Hours | Number Hours and a half
Hours: hour/hours/h/hr/hrs
Minutes: minute/minutes/min/mins/m
Lengths: Compared_length
Lengths @between: between Number and Number Minutes | Number to Number Minutes | Number - Number Minutes
Lengths @between_hours: between Number and Number Hours | Number to Number Hours | Number - Number Hours
Lengths @at_least_hours: Number Hours plus | Number Or_more Hours
Lengths @at_least: Number Or_more Minutes
Lengths @at_most: Number Or_less Minutes
Lasting: of | for | with | a | that lasted/lasting/took/was/were/ran? | lasting | lasted | last | took | were | was |
    go | went | that went | that go | running | ran
Top amount @minutes: Lasting? Lengths long? | Lasting? Lengths in length/duration
With: of | that had/have? | had | have | has | having | featuring | for | in | were | was | where i did/had | did | i
    did
Times: sessions/session/times/trainings/classes/workouts/entries/time | training sessions
Rounds: sparring? rounds/round | rounds of sparring | - round
Top amount @no_rounds: with no rounds | without rounds/sparring | without any rounds | with zero rounds | with 0
    rounds | no rounds | where/when/that/which i did no rounds | where/when i had no rounds
Top amount @days: Counted different? days
Level: intensity/intensities/effort/rpe level/rating/score?
Of_ten: / 10 | out of 10/ten | of 10
At: like | with an/a? | at an/a? | of an/a? | that had/was/were | where the? | had an/a? | in
Is: of | at | was | is | were | being | = | equal to | rated
Clock @am: Number am/a.m | Number in the morning
Clock @pm: Number pm/p.m | Number in the afternoon/evening | Number at night
Clock @time: Number : Number | at Number : Number
Clock =720: noon/midday
Begun: that? started/starting/began/beginning/start/begin
Top where @before_clock: Begun? before/until Clock
Top where @after_clock: Begun? after/from/past Clock | Begun? at Clock or later
Counted @whole_numbers: Compared
Count_of_rounds: Counted Rounds
Count_of_rounds @at_least: Number Rounds Or_more
Count_of_rounds @at_most: Number Rounds Or_less
Top amount @rounds: With? Count_of_rounds
Top where @with_rounds: with Count_of_rounds
Count_of_times: Counted Times
Count_of_times @at_least: Number Times Or_more | At_least Once
Count_of_times @at_most: Number Times Or_less
Count_of_times @more: More_than Once
Count_of_times @exactly: Once
Count_of_times @at_least: Once or more
Once =1: once
Once =2: twice
Top amount @sessions: Count_of_times
Level_compared: At? Level Is? Compared Of_ten? | At? Compared Of_ten? in/of? Level | that/which? were/was/i?
    rated/scored/marked/rate as/at/it? a/an? Compared Of_ten?
Level_compared @more: More_than an/a? Level of/at? Number Of_ten? | At? More_than Number Of_ten
Level_compared @less: Less_than an/a? Level of/at? Number Of_ten? | At? Less_than Number Of_ten
Level_compared @at_least: At_least an/a? Level of/at? Number Of_ten? | At? At_least Number Of_ten | At? Number Of_ten
    Or_more
Level_compared @exactly: At? a/an? Number Of_ten | got/get a/an? Number Of_ten? from me | i gave/give a/an Number
    Of_ten?
Top where @intensity: Level_compared
Not: not | was/were/are/is/did/do not | were not done/held? | not done/held/tagged/marked? | that was/were not
Wearing: wear | in | with | wearing | were | was | done in | that were in? | were in | was in | in the | wore |
    when/where i wear/wore | when/where i train/trained/am/was in | i wear/wore | when/where wearing | when in
Filter worn=gi: Wearing? the/a/my? gi
Filter worn=no-gi: Wearing? the? no-gi | without the/a/my? gi
Filter worn=gi_only: Wearing? the? gi only | only Wearing? the? gi | just Wearing? gi | pure gi | purely gi |
    exclusively gi
Filter worn=no-gi_only: Wearing? no-gi only | Not Wearing? the/a/my? gi | only Wearing? no-gi | just Wearing? no-gi |
    pure no-gi | purely no-gi | Aux Subject not do/train/wear in? the/a/my? gi
Filter worn=both: in? both gi and no-gi | both | in both | gi and no-gi both | mixed | both gi / no-gi | both the gi
    and no-gi | in? both no-gi and gi
Top where: Filter
Every: on | on a | on an | any | on my | a
Top every @days_of_week: on? every/each Weekday | every/each Weekdays
Top every @weekend: every/each weekend
Filter @days_of_week: Every? Weekdays | Every? Weekdays And Every? Weekdays | Every? Weekdays , Weekdays ,? And
    Weekdays | Every? Weekdays And Weekdays And Weekdays | on a Weekday | on any Weekday | Weekday Session | a Weekday
    Session | on Weekday And Weekday
Top weekday: on? Weekday
And: and | or | and on | or on
Filter @weekend: on/at/over/during? the? weekend/weekends | weekend Session | weekend ones
Filter @working_days: on/during? the? weekdays | on a weekday | weekday Session | weekday ones | during the week |
    week days | on work days | midweek
Filter time=morning: in/during? the? early? morning/mornings | early Session
Filter time=afternoon: in/during? the? afternoon/afternoons
Filter time=evening: in/during/at? the? evening/evenings/night/nights
Very: really | very | that were | which were | were | was | considered
Top hard @hard: Very? hard/tough/intense | high intensity | high - intensity | at high intensity | hard ones
Top hard @easy: Very? easy/light | low intensity | low - intensity | at low intensity
Term @term: Thing | Thing or Thing | either Thing or Thing | Thing , Thing or Thing
Terms @terms: Term | Term and Det? Term | both Term and Term
Det: the/my/a/an/some/any/our/her/his/their/being/getting/feeling/all | Athlete 's | that i was/felt? | how | the word
    | a word like | the words | my own
Weak: on | in | at | to | from | for | of | against | around | with the | with my
Filter @written: Weak Det? Written | Weak Det? Written and Det? Written | have/had Det? Written
Intro: about | with | mention/mentions/mentioned/mentioning | involving/involved/involve | including/included/include
    | featuring/featured | containing/contain/contains/contained | regarding | working/worked/work on |
    practising/practised/practise/practicing/practiced/practice | drilled/drill/drilling |
    focused/focus/focusing/focussed on | do/done/doing | train/trained/training | try/tried/trying | use/used/using |
    attempt/attempted | work/working/worked | where i mention | anything/something on | notes/entries on | that
    mention/mentions | with mention of | roll/rolled/rolling with | write/wrote/written about | talk/talked about | a
    mention of | mentions of | on the topic of | to do with | when i mention | play/played | covering/covered/cover |
    spent on | wrote down | teach/taught | learn/learned/learnt | dedicated to | devoted to | refer/referring/referred
    to | note/noted | write | wrote | say/said | is mentioned in? | say/said anything about | mention anything about |
    that i worked on | that i did | write/wrote/written/say/said/mention/mentioned anything/something/much about/on |
    with the words
Filter @mention: Intro Det? Terms | Intro Intro Det? Terms | Terms Session | Terms is/was/were/are/got/get/gets?
    mentioned/mention/written/noted/drilled/practised/practiced | Terms come/came up | Terms appear/appeared | Terms
    show/showed up | Terms was/were the? focus/topic
Tag: tagged as/with? | with/have/has/had/under/using? the? tag/tags of? | labelled/labeled as? | with the label |
    carry the tag | carrying the tag | tag/tags | that are tagged as/with? | was/were tagged as/with? | marked as?
Filter @tagged: Tag Term | Tag Det Term | Tag Det? Term and Term | Term tag/tags | Term - tagged Session? | Term
    tagged
Filter @with_tags: with a tag | with any tags/tag | with tags | that have tags | tagged Session
Filter @without_tags: not tagged | without a tag | without any tags/tag | without tags | with no tags/tag | untagged
Feel: was/were/am/is/are/been/be/being/feel/felt/feeling/feels
Filter @passive: get/got/getting Thing
Filter @verb_and_object: Written Det Written
Filter @unclear: ever Thing | where/when Subject Feel Thing | Feel Subject Thing | Subject Feel Thing | Feel Thing |
    Subject was Feel Thing | Feel Subject Feel Thing
Top topic: Det Written | Known | Named | , Known only
Start topic: Written | Written and me
Hurt: hurt/hurts/hurting/pain/painful/sore/soreness/ache/ached/aches |
    aching/injured/injury/injuries/stiff/tweaked/tweak/swollen/sprained/sprain |
    strained/pains/twisted/tweaks/bruised/inflamed/pinch/pinches/pinched/pinching/jammed/numb/tight/popped/pop
State: bother/bothers/bothered/bothering me/her/him/them? | bug/bugs/bugged/bugging me/her/him/them? |
    cause/caused/causing me? trouble/problems/issues/pain | give/gave/giving me? issues/pain | be/was/is a/an?
    problem/issue/trouble | act/acts/acted/acting up | play/plays/played/playing up | flare/flared/flares/flaring up |
    hold/holding/held/holds up | healing/healed/heal | give/gives/giving/gave me/her/him trouble/problems/grief |
    trouble | problems | issues | bother/bothering Athlete
Part: to/with/about? Det? left/right/lower/upper/bad/old? Body
Filter @pain: Hurt | Hurt in/to/of/from? Part | Part Hurt | Part Aux Hurt | Part State | Part Aux State | Hurt Part |
    Part Feel? Hurt again? | Part been Hurt | Part been State | in Hurt | have Hurt | Feel Hurt | a/an/some/any Hurt
Top hurts=yes: Hurt | State | Hurt again | where does it Hurt | where do i Hurt
Top part: Part
Except: except for/on/in? | have/has/had/having nothing to do with | that? have/has/had nothing to do with | nothing
    to do with | unrelated to | not related to | excluding | other than | apart from | without | not counting |
    leaving out | not including | ignoring | minus | aside from | besides | outside of? | leave out | leave aside |
    do not count
Did_not: Not | that did not | where i did not | which did not | when i did not | but did not | in which i did not | i
    did not
Top where @without: Did_not Left_out | Except Left_out | Except Det? Absent
Top amount @no_rounds: Did_not roll/spar/sparring | Did_not do any? rounds/sparring | Did_not have any? rounds
Filter @unsure: about Det? Any_word
Left_out: Filter | the Filter Session? | Filter Session
Left_out @written: Known Session?
Absent @mentioned: any? Term Session?
Left_out @commented: a/any? comment/comments/feedback
Left_out @pain: any? Hurt
Left_out @days_of_week: on? Weekday
Top where @outside: Not Period | Except Period
Top where @without_term: with/have/had/has/included/involved? no Term Session? | without a/an/any? Term Session? |
    with no mention of Term
Event @event: Term | Term Session | Filter | Filter Session | Session Filter | Subject Hurt Part | Hurt | Part Hurt |
    Hurt Part | Part last Hurt | Subject last Hurt Part | Part last State
Latest: last | latest | most recent | my last | the last | my | the | her | his | their | Athlete 's | my latest | my
    most recent
Top anchor @after: since Latest? Event | ever since Latest? Event | after Latest? Event | following Latest? Event |
    from Latest? Event on/onwards
Top anchor @days_before: in? the? last? Number Span before Latest? Event
Top anchor @span_before: in? the Span before Latest? Event
Top anchor @days_after: in? the? first? Number Span after/following Latest? Event | within Number Span after/of
    Latest? Event
Top anchor @span_after: in? the Span after/following Latest? Event
Span =1: day/days
Span =7: week/weeks
Span =30: month/months
Top anchor @before: before Latest? Event | prior to Latest? Event | leading up to Latest? Event | ahead of Latest?
    Event
Top period: Period
Top this: of/for/in/during/this? the Unit | my Unit | of the Unit so far | of the whole Unit
Top halves: in? the? first or/and/vs/versus/than in? the? second half of? Period
Top relative=half: in? the? second half/one
Top relative=week: in/to/with/from? the week before that?
Top relative=month: in/to/with/from? the month before that?
Top relative=quarter: in/to/with/from? the quarter before that?
Top relative=year: in/to/with/from? the year before that? | a year earlier | a year before
Top relative=year_ago: the? same period/month/week/time last year | a year ago | the year earlier | the same
    period/month/week/time a year ago/earlier/before
Top relative=before: the one before that? | the period before that? | the previous one | before that | the time before
    that? | the previous time | the time before | the session before that?
Top where @neither: neither Left_out nor Left_out
Top where @not_commented: with/have/has/had/got/get/that no comment/comments/feedback | uncommented | that have no
    comments
Author: Coach | coach Coach | my coach Coach
Author =anyone: my/the/her/his/their? coach/coaches | anyone/anybody/someone/somebody | coaches | people | others
Say: say/says/said/tell/told/telling/write/writes/wrote/written |
    think/thinks/thought/comment/comments/commented/commenting/advise/advised/advises |
    recommend/recommended/recommends/suggest/suggested/suggests/mention/mentioned/mentions/remark |
    remarked/note/noted/notes/saying/writing | give/gave/given/left/leave/made/make | keep/keeps/kept
    telling/saying/writing/repeating | had to say | always say/says/tell/tells/write/writes | been
    telling/saying/writing | reply/replied | respond/responded
To: to? me/her/him/them/us | to? Athlete | on | about | on my sessions/training | me about | me to | me anything about
    | anything about? | something about? | anything to me
Top said: Aux? Author Say To? | Aux? Author Say To? on? | Author Aux Say To? | Aux Author Adv Say To? | Aux? Author
    Say a/any/the? Comments To?
Comments: comment/comments/feedback/advice/tip/tips/remark/remarks/opinion/suggestion/suggestions
Top noun=comments: Own? Comments | Own? Comments Subject get/got/received? | Own? Comments did/do/have Subject
    get/got/receive/received/have? | Own? Comments get/got/received | Own? Comments was/were left/made/written/given |
    Comments on my sessions/training/entries
Top by: from/by/of Author | Author 's | Coach
Top says=yes: commented/comment/comments/wrote/said/write/commenting | left a comment | left
    comments/feedback/remarks? | gave feedback | wrote comments | has commented
With_comment: with/have/has/had/that have/got/received/carry? a/any/some? comment/comments/feedback/remark | commented
    on? | that were/was commented on | been commented on | get/got a/any? comment/comments/feedback | received a
    comment/comments
Top where @commented: With_comment | With_comment by/from/of Author | have comments on them | with comments on them |
    Aux Author comment/commented/write/leave on? | that? Author commented/wrote/comment on? | Author comment on | Aux
    Author leave a/any? comment/comments/feedback on? | Author commented on | Aux Author give me? feedback on?
Adv: recently/ever/just/also/actually/already
Top said_last: Aux? Author last Say To? | Author last Say To?
Top where @between_clock: between Number and Clock | between Clock and Clock | from Clock to Clock | from Number to
    Clock
Top period @before_period: in? the Span before Day | in? the Number Span before Day | Number Span before Day
Top period @after_period: in? the Span after/following Day | in? the Number Span after/following Day | Number Span
    after Day
Length =75: an/one/1 hour and a quarter
Length =45: three quarters of an hour
"""
