// Reads inputs of assignors, one thing a line, and prints what Kafka's own classes make of them.

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

public class AssignAtClient {
    private String name;
    private final List<PartitionInfo> partitions = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();
    private final Map<String, Subscription> members = new TreeMap<>();

    public static void main(String[] arguments) throws Exception {
        AssignAtClient current = null;
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] words = line.split(" ", -1);
            if (words[0].equals("case")) {
                if (current != null) current.print();
                current = new AssignAtClient();
                current.name = words[1];
            } else if (words[0].equals("topic")) {
                current.topic(words[1], words[2]);
            } else {
                current.member(words);
            }
        }
        if (current != null) current.print();
    }

    private Node node(String rack) {
        Node node = new Node(nodes.size(), "host", 9092, rack);
        nodes.add(node);
        return node;
    }

    private void topic(String topic, String text) {
        int number = 0;
        for (String racks : text.split(",", -1)) {
            Node[] replicas = racks.isEmpty()
                ? new Node[] {node(null)}
                : Arrays.stream(racks.split("\\+")).map(this::node).toArray(Node[]::new);
            partitions.add(new PartitionInfo(topic, number++, replicas[0], replicas, replicas));
        }
    }

    private static TopicPartition partition(String text) {
        int at = text.lastIndexOf('-');
        return new TopicPartition(text.substring(0, at), Integer.parseInt(text.substring(at + 1)));
    }

    private void member(String[] words) {
        List<String> topics = Arrays.asList(words[2].split(","));
        int generation = Integer.parseInt(words[5]);
        List<TopicPartition> owned = words[6].equals("-")
            ? List.of()
            : Arrays.stream(words[6].split(",")).map(AssignAtClient::partition).collect(Collectors.toList());
        Optional<String> rack = words[4].equals("-") ? Optional.empty() : Optional.of(words[4]);
        ByteBuffer data = null;
        if (name.equals("sticky")) {
            StickyAssignor memory = new StickyAssignor();
            memory.onAssignment(new Assignment(owned), new ConsumerGroupMetadata("g", generation, words[1], Optional.empty()));
            data = memory.subscriptionUserData(new HashSet<>(topics));
        }
        Subscription subscription = new Subscription(topics, data, owned, generation, rack);
        if (!words[3].equals("-")) subscription.setGroupInstanceId(Optional.of(words[3]));
        members.put(words[1], subscription);
    }

    private void print() {
        Cluster cluster = new Cluster("c", nodes, partitions, Set.of(), Set.of());
        ConsumerPartitionAssignor assignor = switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            default -> new CooperativeStickyAssignor();
        };
        var given = assignor.assign(cluster, new GroupSubscription(members)).groupAssignment();
        System.out.println(new TreeMap<>(given).entrySet().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue().partitions().stream()
                .sorted(Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition))
                .map(TopicPartition::toString)
                .collect(Collectors.joining(",")))
            .collect(Collectors.joining(" ")));
    }
}
