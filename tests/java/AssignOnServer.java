// Reads inputs of the coordinator's assignors, one thing a line, and prints what Kafka's own classes
// make of them. Topics get ids, and members an order, in which hashing goes by name.

import java.lang.reflect.Proxy;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberSubscription;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.server.common.TopicIdPartition;

public class AssignOnServer {
    record Member(Optional<String> instance, Set<Uuid> topics, Map<Uuid, Set<Integer>> owned) { }

    private String name;
    private final Map<String, Uuid> ids = new TreeMap<>();
    private final Map<Uuid, String> names = new HashMap<>();
    private final Map<Uuid, Integer> counts = new HashMap<>();
    private final Map<String, Member> members = new TreeMap<>();

    public static void main(String[] arguments) throws Exception {
        AssignOnServer current = null;
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] words = line.split(" ", -1);
            if (words[0].equals("case")) {
                if (current != null) current.print();
                current = new AssignOnServer();
                current.name = words[1];
            } else if (words[0].equals("topic")) {
                current.topic(words[1], Integer.parseInt(words[2]));
            } else {
                current.member(words);
            }
        }
        if (current != null) current.print();
    }

    // Ids from 2 on are hashed in their order. The simple assignor hashes partitions, so there ids
    // are such that these come in order.
    private void topic(String topic, int count) {
        int before = counts.values().stream().mapToInt(Integer::intValue).sum();
        int none = new TopicIdPartition(new Uuid(0, 0), 0).hashCode();
        int inverse = BigInteger.valueOf(31).modInverse(BigInteger.ONE.shiftLeft(32)).intValue();
        long number = name.equals("simple") ? (before - none) * inverse & 0xffffffffL : ids.size() + 2;
        Uuid id = new Uuid(0, number);
        ids.put(topic, id);
        names.put(id, topic);
        counts.put(id, count);
    }

    private void member(String[] words) {
        Set<Uuid> topics = Arrays.stream(words[3].split(",")).map(ids::get).collect(Collectors.toSet());
        Map<Uuid, Set<Integer>> owned = new TreeMap<>();
        for (String text : words[4].equals("-") ? new String[0] : words[4].split(",")) {
            int at = text.lastIndexOf('-');
            owned.computeIfAbsent(ids.get(text.substring(0, at)), id -> new HashSet<>())
                .add(Integer.parseInt(text.substring(at + 1)));
        }
        Optional<String> instance = words[2].equals("-") ? Optional.empty() : Optional.of(words[2]);
        members.put(words[1], new Member(instance, topics, Collections.unmodifiableMap(owned)));
    }

    private static <T> T made(Class<T> type, java.util.function.BiFunction<String, Object[], Object> answer) {
        Object made = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
            (proxy, method, arguments) -> answer.apply(method.getName(), arguments));
        return type.cast(made);
    }

    private Object subscription(String id) {
        Member member = members.get(id);
        return made(MemberSubscription.class, (method, arguments) -> switch (method) {
            case "subscribedTopicIds" -> member.topics();
            case "instanceId" -> member.instance();
            default -> Optional.empty();
        });
    }

    private Object assignment(String id) {
        return made(MemberAssignment.class, (method, arguments) -> members.get(id).owned());
    }

    private void print() {
        boolean same = members.values().stream().map(Member::topics).distinct().count() <= 1;
        GroupSpec group = made(GroupSpec.class, (method, arguments) -> switch (method) {
            case "memberIds" -> members.keySet();
            case "subscriptionType" -> same ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
            case "isPartitionAssigned" -> members.values().stream().anyMatch(member ->
                member.owned().getOrDefault(arguments[0], Set.of()).contains(arguments[1]));
            case "isPartitionAssignable" -> true;
            case "memberSubscription" -> subscription((String) arguments[0]);
            default -> assignment((String) arguments[0]);
        });
        SubscribedTopicDescriber topics = made(SubscribedTopicDescriber.class, (method, arguments) ->
            method.equals("numPartitions") ? counts.getOrDefault(arguments[0], -1) : Set.of());
        PartitionAssignor assignor = switch (name) {
            case "range" -> new RangeAssignor();
            case "simple" -> new SimpleAssignor();
            default -> new UniformAssignor();
        };
        GroupAssignment given = assignor.assign(group, topics);
        System.out.println(members.keySet().stream()
            .map(id -> id + "=" + owned(given.members().get(id)))
            .collect(Collectors.joining(" ")));
    }

    private String owned(MemberAssignment given) {
        Set<String> own = new TreeSet<>();
        if (given != null) {
            given.partitions().forEach((id, partitions) ->
                partitions.forEach(number -> own.add(names.get(id) + "-" + number)));
        }
        return String.join(",", own);
    }
}
